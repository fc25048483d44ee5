# What the stages do. Sourced by test, whose log, passed, failed, skipped, reason and note they use.

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
oracle='^TestEveryVerdictAndEverySentenceIsThatOfSwarmkitsScheduler$'

# prepare gets what all stages need.
prepare() {
	command -v go >/dev/null || { echo "there is no go command: install Go 1.26 or later (https://go.dev/dl)" >&2; return 1; }
	race=(-race)
	command -v "$(go env CC)" >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "the race detector needs a C compiler: installing gcc"
		apt-get update && apt-get install -y --no-remove --no-install-recommends gcc libc6-dev && return
	fi
	race=()
	note "the race detector was off: there is no C compiler (install gcc and libc6-dev)"
}

# go_test ARG… runs go test, for limit seconds where that is set (go test's own -timeout does not end fuzzing), shows a line a
# package, and counts. What failed is shown whole.
go_test() {
	local status
	${limit:+timeout --signal INT --kill-after 30 "$limit"} go test "${race[@]}" -v "$@" 2>&1 | tee -a "$log" | grep --line-buffered -E '^(ok|FAIL|panic:)\s|^# '
	status=${PIPESTATUS[0]}
	passed=$(grep -c '^ *--- PASS' "$log")
	failed=$(grep -c '^ *--- FAIL' "$log")
	skipped=$(grep -c '^ *--- SKIP' "$log")
	[ "$skipped" = 0 ] || note "skipped: $(grep -B1 '^ *--- SKIP' "$log" | grep -v '^--$' | tr -s ' \n' ' ')"
	[ "$status" = 0 ] || grep -vE '^ *(=== |--- (PASS|SKIP)|ok |\?)' "$log" | tail -n 200
	return "$status"
}

# step NAME COMMAND… counts a command that says nothing where all is well.
step() {
	local said name=$1
	shift
	if said=$("$@" 2>&1) && [ -z "$said" ]; then
		passed=$((passed + 1)); echo "ok $name"
	else
		failed=$((failed + 1)); printf 'FAIL %s\n%s\n' "$name" "$said"
	fi
}

stage_lint() {
	step gofmt gofmt -l .
	step 'go vet' go vet -tags live ./...
	step staticcheck go run "$staticcheck" -tags live ./...
	go mod tidy -diff >/dev/null 2>&1 # which tells what it downloads
	step 'go mod tidy' go mod tidy -diff
	step 'imports between folders' quiet go test -count=1 ./deploy/lint
	[ $failed = 0 ]
}

# quiet COMMAND… says something only when the command fails.
quiet() {
	local said
	said=$("$@" 2>&1) || { echo "$said"; return 1; }
}

# vet has a stage of its own, and without symbols for debuggers the tests link in half the time.
stage_unit() { go_test -vet=off -ldflags '-s -w' -p 3 -skip "$oracle" ./...; }

# Long runs go without the race detector, which makes them several times slower.
stage_oracle() {
	local status=0 race=("${race[@]}")
	[ -z "${ORACLE_PAIRS:-}" ] || race=()
	GOGC=400 go_test -count=1 -timeout 60m -run "$oracle" ./analyzer/oracle || status=$?
	note "$(grep '^oracle: ' "$log" | tail -n 1)"
	[ -z "${ORACLE_PAIRS:-}" ] || hold_equal || status=$?
	return $status
}

# hold_equal holds the incremental engine against a fresh analysis, and the folded store against the full one, for as many
# random clusters as a long run of the oracle is worth. The unit tests do so for a hundred.
hold_equal() {
	local status=0
	go_test -count=1 -timeout 60m -run '^TestTheEngineSays' ./analyzer -rapid.checks=20000 || status=$?
	go_test -count=1 -timeout 60m -run 'PlacesAsTheFullOneDoes$' ./analyzer/remedy -rapid.checks=10000 || status=$?
	return $status
}

# stage_fuzz gives each target a number of runs, not a time: where a time is up while a worker is busy, go test can call that
# a failure ("context deadline exceeded"). Without the race detector, which unit has on the seeds, it runs several times faster.
stage_fuzz() {
	local target targets=() failure=0 status race=() limit=600 runs=${FUZZ_RUNS:-10000}
	mapfile -t targets < <(fuzz_targets)
	[ ${#targets[@]} -gt 0 ] || { echo "there is no fuzz target"; return 1; }
	for target in "${targets[@]}"; do
		echo "fuzzing ${target/ / in }, $runs runs"
		status=0
		go_test -run '^$' -fuzz "^${target% *}\$" -fuzztime "${runs}x" -fuzzminimizetime 1000x "${target#* }" || status=$? failure=1
		[ $status != 124 ] || echo "${target% *} did not end within $limit s"
	done
	return $failure
}

# fuzz_targets prints a line for each: its name and its package.
fuzz_targets() {
	local folder file
	grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do
		folder=$(dirname "$file")
		sed -n "s|^func \(Fuzz[A-Za-z0-9_]*\)(.*|\1 $folder|p" "$file"
	done | sort
}

build() { make --no-print-directory build; }

stage_demo() {
	build && bin/swarmdiag demo --once >"$log" 2>&1 || { tail -n 50 "$log"; return 1; }
	passed=$(sed -n 's/^All \([0-9]*\) planted faults are named.*/\1/p' "$log")
	tail -n 1 "$log"
	[ "${passed:=0}" -gt 0 ]
}

stage_prometheus() {
	local tools status
	tools=$(fetch prometheus) || { status=$?; reason=$(tail -n 1 "$log.fetch"); return $status; }
	PATH=$tools:$PATH
	build || return
	demo_metrics >"$log" || { echo "the demo shows no metrics"; return 1; }
	step 'scrape example' quiet promtool check config deploy/prometheus/prometheus.yml
	step 'alerts' quiet promtool check rules deploy/prometheus/alerts.yml
	step 'tests of the alerts' quiet promtool test rules deploy/prometheus/alerts_test.yml
	step "the demo's metrics" promtool check metrics <"$log"
	step 'metrics that the alerts name' unknown_metrics
	[ $failed = 0 ]
}

# demo_metrics prints what a demo shows at /metrics once it has named its faults.
demo_metrics() {
	local said=$log.demo deadline=$((SECONDS + 60)) pid port status
	bin/swarmdiag demo >/dev/null 2>"$said" &
	pid=$!
	until port=$(sed -n 's|.*Metrics: http://127.0.0.1:\([0-9]*\)/metrics.*|\1|p' "$said") && [ -n "$port" ]; do
		kill -0 $pid 2>/dev/null && [ $SECONDS -lt $deadline ] || { kill $pid 2>/dev/null; return 1; }
		sleep 0.1
	done
	get "$port" /metrics
	status=$?
	kill $pid && wait $pid
	return $status
}

# get PORT PATH prints a page of a server on this machine, without curl, which not every machine has.
get() {
	exec 3<>"/dev/tcp/127.0.0.1/$1" || return
	printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
	sed '1,/^\r$/d' <&3
	exec 3>&-
}

# unknown_metrics prints the metrics that the alerts use and the demo does not show.
unknown_metrics() {
	local metric
	grep -oE '\bswarmdiag_[a-z_]+' deploy/prometheus/alerts.yml | sort -u | while read -r metric; do
		grep -q "^# TYPE $metric " "$log" || echo "$metric"
	done
}

# fetch WHAT prints the folder of what testbed fetches. Where the machine cannot have it, which testbed says with status 3
# and apt-get without root with any, the stage is skipped.
fetch() {
	local status=0
	deploy/testbed/testbed fetch "$1" 2>"$log.fetch" || status=$?
	cat "$log.fetch" >&2
	[ $status = 0 ] || [ "$(id -u)" = 0 ] || status=3
	[ $status != 3 ] || status=77
	return $status
}

# Cluster volumes are what only 28.5.2 shows: Docker 27 creates none, and 20.10 has none.
volumes='OfAClusterVolume'
stage_live_27_5_1() { live 27.5.1 whole -skip "$volumes"; }
stage_live_20_10() {
	# How one looks and installs is the same on every version: short leaves it to 27.5.1.
	local left=$volumes
	[ "${LIVE_FAULTS:-short}" = whole ] || left+='|^TestEveryWayToLookAndToInstall$'
	live 20.10 "${LIVE_FAULTS:-short}" -skip "$left"
}
stage_live_28_5_2() { live 28.5.2 whole -run "$volumes"; }

# live DOCKER FAULTS ARG… runs the tests on real swarms. Those that bring up swarms of every version run once, with 27.5.1.
live() {
	local packages=(./deploy/e2e/...) status=0
	[ "$(id -u)" = 0 ] || { reason="not root: the nodes of a swarm need namespaces and mounts of their own"; return 77; }
	unshare --mount --net true 2>/dev/null || { reason="this machine lets root make no namespaces (a container without CAP_SYS_ADMIN?)"; return 77; }
	fetch "$1" >/dev/null || { status=$?; reason=$(tail -n 1 "$log.fetch"); return $status; }
	[ "$1" != 27.5.1 ] || mapfile -t packages < <(live_packages)
	LIVE_DOCKER=$1 LIVE_FAULTS=$2 go_test -tags live -count=1 -p 1 -timeout 60m "${@:3}" "${packages[@]}" || return
	[ $passed -gt 0 ] || { reason="every test was skipped"; return 77; }
}

# live_packages prints the folders that hold tests on real swarms.
live_packages() { grep -rl --include='*_test.go' '^//go:build live' . | xargs -r dirname | sort -u; }
