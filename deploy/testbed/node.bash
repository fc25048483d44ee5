# One node: the namespaces, and the dockerd inside. Sourced by testbed; name is the testbed's.

node_dir() { [ "$1" = bridge ] && echo "$root/$name/bridge" || echo "$root/$name/n$1"; }

# Nodes see no other network than this one (a range for benchmarks, which no Docker address pool contains).
address() { echo "198.18.0.$1"; }

# holder NODE prints the pid, in this machine's /proc, of the process that holds the namespaces of a node or the bridge.
# The number on file may be another process by now, so the process must carry the folder in its environment.
holder() {
	local dir pid
	dir=$(node_dir "$1")
	{ read -r pid <"$dir/pid"; } 2>/dev/null && grep -qzxF "TESTBED_NODE=$dir" "/proc/$pid/environ" 2>/dev/null && echo "$pid"
}

# node_env prints the environment of everything that runs in a node, one assignment a line. The machine's own
# (proxies, DOCKER_…) stays out.
node_env() {
	local libraries
	libraries=$(echo "$debian"/{usr/,}lib/*-linux-gnu*)
	echo "TESTBED_NODE=$(node_dir "$1")"
	echo "PATH=/run/testbed:$(dockerd_dir):$debian/usr/sbin:$debian/usr/bin:$debian/sbin:$debian/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	echo "LD_LIBRARY_PATH=${libraries// /:}"
	echo "XTABLES_LIBDIR=$(echo "$debian"/usr/lib/*-linux-gnu*/xtables)"
	echo "HOME=/root"
	echo "TERM=${TERM:-dumb}"
}

dockerd_dir() {
	local docker
	read -r docker <"$root/$name/docker"
	[ "$docker" = 20.10 ] && echo "$debian/usr/sbin" || echo "$cache/docker-$docker"
}

# inside NODE CMD… runs a command in a node, or in the bridge's network.
inside() {
	local pid namespaces=(--net) environment
	pid=$(holder "$1") || die "$1 of testbed '$name' is not running: take it down and up again"
	mapfile -t environment < <(node_env "$1")
	[ "$1" = bridge ] || namespaces=(--mount --uts --net --pid)
	shift
	# Not "ip netns exec": it mounts /sys anew, and the cgroups below it are gone.
	nsenter --target "$pid" "${namespaces[@]}" -- env -i "${environment[@]}" "$@"
}

docker_at() {
	local socket
	socket=$(node_dir "$1")/docker.sock
	shift
	"$debian/usr/bin/docker" -H "unix://$socket" "$@"
}

# hold NODE CMD… starts the process that holds a node's namespaces and waits until it has made them ready.
hold() {
	local dir environment
	dir=$(node_dir "$1")
	mkdir -p "$dir/data"
	mapfile -t environment < <(node_env "$1")
	shift
	setsid env -i "${environment[@]}" "$@" >"$dir/log" 2>&1 </dev/null &
	local started=$!
	until [ -s "$dir/pid" ]; do
		kill -0 $started 2>/dev/null || { cat "$dir/log" >&2; die "namespaces for $dir could not be made"; }
		sleep 0.1
	done
}

# make_node N makes the namespaces of node N and plugs it into the bridge.
make_node() {
	local pid
	hold "$1" unshare --mount --uts --net --pid --fork --kill-child --propagation private "$here/node-init" "node-$1"
	pid=$(holder "$1")
	inside bridge ip -batch - <<-END
		link add v$1 type veth peer name eth0 netns $pid
		link set v$1 master br0 up
	END
	# No default route: with one, every pull of an image that is not there waits for a DNS answer.
	inside "$1" ip -batch - <<-END
		address add $(address "$1")/24 dev eth0
		link set eth0 up
	END
}

# start_engine N starts dockerd with the paths of a real host; the second socket can be reached from outside the node.
start_engine() {
	local dir docker arguments setting
	dir=$(node_dir "$1")
	read -r docker <"$root/$name/docker"
	! engine_alive "$1" || die "dockerd of node $1 runs already"
	arguments=(--config-file "$dir/daemon.json" -H unix:///run/docker.sock -H "unix://$dir/docker.sock"
		--data-root /var/lib/docker --exec-root /run/docker --userland-proxy=false
		--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$(cgroup)/node-$1")
	while read -r setting; do arguments+=("${setting%%=*}" "${setting#*=}"); done <"$dir/settings"
	case $docker in
	# Without this it writes a key into the machine's /etc/docker.
	20.10) echo "{\"deprecated-key-path\": \"$dir/key.json\"}" ;;
	*) echo '{}' ;;
	esac >"$dir/daemon.json"
	# The shell ends at once, so that dockerd belongs to the node's first process, which reaps it.
	# shellcheck disable=SC2016
	inside "$1" bash -c 'dir=$0; setsid "$@" >>"$dir/log" 2>&1 </dev/null & echo $! >"$dir/dockerd.pid"' \
		"$dir" dockerd "${arguments[@]}"
}

# engine_alive N: dockerd.pid counts in the node's own PID namespace.
engine_alive() {
	local pid engine
	pid=$(holder "$1") && { read -r engine <"$root/$name/n$1/dockerd.pid"; } 2>/dev/null && [ -d "/proc/$pid/root/proc/$engine" ]
}

# wait_engine N: dockerd listens early, and a question asked then is answered once it is ready.
wait_engine() {
	local deadline=$((SECONDS + 60)) dir
	dir=$(node_dir "$1")
	until [ -S "$dir/docker.sock" ] && timeout 60 "$debian/usr/bin/docker" -H "unix://$dir/docker.sock" version >/dev/null 2>&1; do
		if ! engine_alive "$1" || [ $SECONDS -ge $deadline ]; then
			tail -20 "$dir/log" >&2
			die "dockerd of node $1 did not start, its log is above"
		fi
		sleep 0.1
	done
}

signal_engine() {
	engine_alive "$1" || die "dockerd of node $1 is not running"
	inside "$1" kill "-$2" "$(cat "$(node_dir "$1")/dockerd.pid")"
}

# stop_engine N stops dockerd, by force after 20 s, and then whatever it has left running in the node.
stop_engine() {
	local deadline=$((SECONDS + 20))
	signal_engine "$1" CONT
	signal_engine "$1" TERM
	while engine_alive "$1"; do
		[ $SECONDS -lt $deadline ] || { say "dockerd of node $1 does not stop: killing it"; signal_engine "$1" KILL; deadline=$((SECONDS + 20)); }
		sleep 0.1
	done
	inside "$1" bash -c 'kill -KILL -1' 2>/dev/null || true
}
