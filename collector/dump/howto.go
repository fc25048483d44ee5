package dump

// The lines of HowTo that write what nothing can be told without.
const (
	makeNodes    = "docker node ls -q | xargs -r docker node inspect > nodes.json\n"
	makeServices = "docker service ls -q | xargs -r docker service inspect > services.json\n"
	makeTasks    = `{ docker service ls -q | xargs -r docker service ps -q --no-trunc
  docker node ls -q | xargs -r docker node ps -q --no-trunc
} | sort -u | xargs -r docker inspect --type task > tasks.json
`
)

// HowTo is the shell lines that write such a folder on a manager without swarmdiag. They work with sets that are empty.
const HowTo = "mkdir swarm-dump && cd swarm-dump\n" + makeNodes + makeServices + makeTasks +
	`docker network ls -q --no-trunc --filter scope=swarm | xargs -r docker network inspect > networks.json
docker info --format '{{json .}}' > info.json
docker volume ls -q | xargs -r docker volume inspect > volumes.json  # only where services mount cluster volumes
cd ..
`
