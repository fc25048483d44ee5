# Daemons and tools, fetched or built once into a folder of our own. Sourced by testbed.
# No package is installed: they are downloaded and unpacked, so no service starts and none is replaced.

cache=$(readlink -m "${SWARMDIAG_CACHE:-${HOME:?}/.cache/swarmdiag}")
debian=$cache/debian

# fetch WHAT… brings each of 28.5.2, 27.5.1, 20.10, cli, prometheus, ssh and compose into the cache, and prints its folder.
fetch() {
	local what
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9 # two testbeds may start at once on an empty cache
	for what; do
		case $what in
		28.5.2) fetch_daemons; build "$what" dockerd; build "$what" docker; echo "$cache/docker-$what" ;;
		27.5.1) fetch_daemons; build "$what" dockerd; echo "$cache/docker-$what" ;;
		20.10) fetch_daemons; check_packaged "$what"; echo "$debian/usr/sbin" ;;
		cli) fetch_daemons; echo "$debian/usr/bin" ;;
		prometheus) fetch_packages prometheus prometheus; echo "$cache/prometheus/usr/bin" ;;
		ssh) fetch_packages ssh openssh-server openssh-client; echo "$cache/ssh/usr/bin" ;;
		compose) fetch_packages compose docker-compose; echo "$cache/compose/usr/bin" ;;
		*) wrong "nothing to fetch under '$what'" ;;
		esac
	done
	exec 9>&-
}

# What both Docker versions run on: containerd, runc, docker-init, iptables, and the docker command.
fetch_daemons() {
	local wanted=(docker.io containerd runc tini iptables)
	command -v ip >/dev/null || wanted+=(iproute2)
	fetch_packages debian "${wanted[@]}"
}

check_packaged() {
	local found
	found=$("$debian/usr/bin/docker" --version)
	[[ $found == "Docker version $1."* ]] ||
		cannot "this distribution packages '$found', not Docker $1, which Debian 12 has"
}

# fetch_packages FOLDER PACKAGE… unpacks them, with the libraries and Python modules that this machine lacks, in the cache.
fetch_packages() {
	local folder=$1 work packages libraries
	shift
	[ ! -d "$cache/$folder" ] || return 0
	command -v apt-get dpkg >/dev/null || cannot "$* come as Debian packages, and this machine has no apt-get and dpkg"
	say "fetching $* into $cache/$folder"
	work=$(mktemp -d "$cache/fetch.XXXXXX")
	packages_known "$@" || apt_update
	packages_known "$@" || cannot "apt knows no package $*"
	# Newer distributions have the docker command in a package of its own.
	if [[ " $* " == *" docker.io "* ]] && packages_known docker-cli; then set -- "$@" docker-cli; fi
	mapfile -t libraries < <(missing_libraries "$@")
	packages=("$@" ${libraries[@]+"${libraries[@]}"})
	# Stale lists name versions that the mirror no longer has.
	download "$work" "${packages[@]}" || { apt_update; download "$work" "${packages[@]}"; } ||
		{ rm -rf "$work"; die "cannot download ${packages[*]}"; }
	for deb in "$work"/*.deb; do dpkg -x "$deb" "$work/root"; done
	mv "$work/root" "$cache/$folder"
	rm -rf "$work"
}

packages_known() { apt-cache show --no-all-versions "$@" >/dev/null 2>&1; }
apt_update() { say "apt-get update"; apt-get update >&2 || die "apt-get update did not work"; }
download() { (cd "$1" && shift && apt-get -qq -o APT::Sandbox::User=root download "$@" >&2); }

missing_libraries() {
	local library
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
		--no-enhances "$@" | grep -E '^(lib|python3)[^ ]*$' | sort -u | while read -r library; do
		dpkg-query -W -f '${db:Status-Status}' "$library" 2>/dev/null | grep -qx installed || echo "$library"
	done
}

# build VERSION PROGRAM builds dockerd, or docker, of its Go module. These have no go.mod: what their vendor.mod requires is used.
build() {
	local version=$1 program=$2
	[ ! -x "$cache/docker-$version/$program" ] || return 0
	command -v go >/dev/null || cannot "$program $version is built from its Go module, and there is no go command"
	say "building $program $version, which takes about three minutes, into $cache/docker-$version"
	compile "$version" "$program" >"$cache/build.log" 2>&1 9>&- ||
		{ tail -20 "$cache/build.log" >&2; die "$program $version did not build, see $cache/build.log"; }
}

# compile VERSION PROGRAM does without "set -e", which counts for nothing where the caller looks at the status.
compile() (
	local module=github.com/docker/docker variable=dockerversion.Version work source status=0
	[ "$2" = dockerd ] || module=github.com/docker/cli variable=cli/version.Version
	work=$(mktemp -d "$cache/build.XXXXXX")
	source=$(go env GOMODCACHE)/$module@v$1+incompatible
	mkdir -p "$cache/docker-$1"
	cd "$work" && go mod init testbed/build && go mod download "$module@v$1+incompatible" &&
		install -m 644 "$source/vendor.mod" go.mod && install -m 644 "$source/vendor.sum" go.sum &&
		go mod edit -module testbed/build -require "$module@v$1+incompatible" &&
		CGO_ENABLED=0 go build -mod=mod -buildvcs=false -o "$2" \
			-ldflags "-s -w -X $module/$variable=$1" "$module/cmd/$2" &&
		mv "$2" "$cache/docker-$1/$2" || status=1
	rm -rf "$work"
	return $status
)

# demo_image makes the archive that every node imports as demo:1, anew when its source has changed.
demo_image() {
	local image=$cache/demo.tar work
	[ "$here/demo-image/main.go" -nt "$image" ] || return 0
	command -v go >/dev/null || cannot "the demo image is built from Go source, and there is no go command"
	say "building the image demo:1"
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/build.XXXXXX")
	CGO_ENABLED=0 go -C "$here/demo-image" build -buildvcs=false -ldflags '-s -w' -o "$work/demo" . >&2 ||
		{ rm -rf "$work"; die "the demo image did not build"; }
	tar -C "$work" --owner=0 --group=0 -cf "$work/demo.tar" demo
	mv "$work/demo.tar" "$image"
	rm -rf "$work"
}
