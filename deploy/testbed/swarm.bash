# The testbed as a whole: bridge, nodes, swarm. Sourced by testbed.

cgroup() { echo "swarmdiag-testbed-$name"; }
names() { [ ! -d "$root" ] || find "$root" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort; }
count() { find "$root/$name" -maxdepth 1 -name 'n[0-9]*' | wc -l; }

# up NAME [OPTION…]
up() {
	local nodes=3 managers=1 docker=27.5.1 settings=()
	[[ $# -gt 0 && $1 != -* ]] || wrong "up wants a name first"
	check_name "$1"
	name=$1
	shift
	while [ $# -gt 0 ]; do
		[ $# -ge 2 ] || wrong "$1: no value, or no such option"
		case $1 in
		--nodes) nodes=$2 ;;
		--managers) managers=$2 ;;
		--docker) docker=$2 ;;
		--label) settings+=("$(setting --label "$2")") ;;
		--generic) settings+=("$(setting --node-generic-resource "$2")") ;;
		*) wrong "up has no option '$1'" ;;
		esac
		shift 2
	done
	[[ $nodes =~ ^[1-9][0-9]?$ ]] || wrong "--nodes $nodes: want 1 to 99"
	[[ $managers =~ ^[1-9][0-9]?$ && $managers -le $nodes ]] || wrong "--managers $managers: want 1 to $nodes"
	[[ $docker =~ ^(28.5.2|27.5.1|20.10)$ ]] || wrong "--docker $docker: want 28.5.2, 27.5.1 or 20.10"
	need_root
	check_root
	[ ! -e "$root/$name" ] || die "testbed '$name' exists: testbed down $name"
	fetch "$docker" >/dev/null
	demo_image

	trap 'exit 130' INT TERM
	trap abandon EXIT
	mkdir -p "$root/$name"
	echo "$docker" >"$root/$name/docker"
	say "$name: $nodes nodes of Docker $docker in $root/$name"
	hold bridge unshare --net "$here/bridge-init"
	each_node 1 "$nodes" bring_up ${settings[@]+"${settings[@]}"}
	join_all "$nodes" "$managers"
	trap - EXIT
	say "$name: up after $SECONDS s, storage driver $(docker_at 1 info -f '{{.Driver}}')"
	echo "$root/$name"
}

# setting FLAG N:KEY=VALUE prints "N FLAG=KEY=VALUE".
setting() {
	[[ $2 =~ ^([1-9][0-9]?):([^=]+=.+)$ ]] || wrong "'$2': want NODE:KEY=VALUE"
	echo "${BASH_REMATCH[1]} $1=${BASH_REMATCH[2]}"
}

# These folders look different inside a node.
check_root() {
	local folder
	for folder in "$root" "$cache"; do
		case $folder/ in
		/run/* | /var/lib/* | /opt/* | /proc/* | /sys/*) cannot "$folder: nodes have their own /run, /opt and /var/lib; choose another place (SWARMDIAG_TESTBED, SWARMDIAG_CACHE)" ;;
		esac
	done
	[ "${#root}" -le 60 ] || cannot "$root is too long for the path of a socket: set SWARMDIAG_TESTBED"
}

abandon() {
	local status=$? jobs
	trap - EXIT INT TERM
	jobs=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$jobs" ] || kill $jobs 2>/dev/null || true
	say "$name: did not come up, cleaning up"
	down
	exit "$status"
}

# each_node FROM TO FUNCTION ARG… runs FUNCTION N ARG… for all of them at once.
each_node() {
	local from=$1 to=$2 i workers=() worker
	shift 2
	for ((i = from; i <= to; i++)); do
		"$1" "$i" "${@:2}" &
		workers+=($!)
	done
	for worker in ${workers[@]+"${workers[@]}"}; do wait "$worker" || die "a node did not come up"; done
}

# bring_up N [SETTING…] makes node N, with the settings that are its own.
bring_up() {
	local dir node=$1 one
	dir=$(node_dir "$node")
	shift
	mkdir -p "$dir"
	for one; do [[ $one != "$node "* ]] || echo "${one#* }"; done >"$dir/settings"
	make_node "$node"
	start_engine "$node"
	wait_engine "$node"
	docker_at "$node" import -c 'ENTRYPOINT ["/demo"]' "$cache/demo.tar" demo:1 >/dev/null
	say "$name: node-$node is up"
}

join_all() {
	local nodes=$1 managers=$2 i
	docker_at 1 swarm init --advertise-addr "$(address 1)" --listen-addr "$(address 1):2377" >/dev/null
	# One manager after the other: raft takes one change of its members at a time.
	for ((i = 2; i <= managers; i++)); do join "$i" manager; done
	each_node $((managers + 1)) "$nodes" join worker
	local deadline=$((SECONDS + 30))
	until [ "$(docker_at 1 node ls --format '{{.Status}}' | grep -cx Ready)" = "$nodes" ]; do
		[ $SECONDS -lt $deadline ] || die "not all nodes are ready: $(docker_at 1 node ls)"
		sleep 0.1
	done
}

join() {
	docker_at "$1" swarm join --token "$(docker_at 1 swarm join-token -q "$2")" --advertise-addr "$(address "$1")" \
		--listen-addr "$(address "$1"):2377" "$(address 1):2377" >/dev/null
}

# processes prints the pids of what was started for the testbed. Containers are not among them: they end with their
# node's first process, and it is not gone before they are.
processes() {
	# grep complains by its status of processes that end while it looks.
	{ grep -lszF "TESTBED_NODE=$root/$name/" /proc/[0-9]*/environ || true; } | cut -d/ -f3
}

# down ends every process of the testbed at once. Mounts and networks go with the namespaces; cgroups do not.
down() {
	local pids pid deadline=$((SECONDS + 30))
	while pids=$(processes) && [ -n "$pids" ]; do
		# shellcheck disable=SC2086
		kill -KILL $pids 2>/dev/null || true
		for pid in $pids; do
			while [ -d "/proc/$pid" ]; do
				[ $SECONDS -lt $deadline ] || die "process $pid of testbed '$name' does not end"
				sleep 0.05
			done
		done
	done
	until remove_cgroups; do
		[ $SECONDS -lt $deadline ] || die "cgroups $(cgroup) cannot be removed"
		sleep 0.1
	done
	rm -rf --one-file-system "${root:?}/${name:?}"
	say "$name: down"
}

remove_cgroups() {
	local found plugin
	# Below /sys/fs/cgroup itself with cgroup v2, below each controller's folder with v1.
	found=$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$(cgroup)")
	# dockerd gives a managed plugin no parent: its cgroup, named by its id, is below that of whoever brought the testbed up.
	for plugin in "$root/$name"/n*/data/plugins/*/; do
		plugin=$(basename "$plugin")
		[[ ! $plugin =~ ^[0-9a-f]{64}$ ]] || found+=" $(find /sys/fs/cgroup -type d -name "$plugin")"
	done
	# shellcheck disable=SC2086
	[ -z "${found// /}" ] || find $found -depth -type d -exec rmdir {} + 2>/dev/null
}

list() {
	local node up
	for name in $(names); do
		up=0
		for ((node = 1; node <= $(count); node++)); do ! engine_alive "$node" || up=$((up + 1)); done
		echo "$name: Docker $(cat "$root/$name/docker"), $up of $(count) nodes up, unix://$root/$name/n1/docker.sock"
	done
}
