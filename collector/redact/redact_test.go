package redact

import "testing"

func TestCredentialsDoNotPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"userinfo of a URL", "Get https://bob:hunter2@registry.local/v2/: EOF", "Get https://(redacted)@registry.local/v2/: EOF"},
		{"a user without a password", "https://ghtoken@git.local/x", "https://(redacted)@git.local/x"},
		{"an at sign in a password", "redis://:p@ss@cache:6379/0", "redis://(redacted)@cache:6379/0"},
		{"an environment variable", "POSTGRES_PASSWORD=hunter2 not set", "POSTGRES_PASSWORD=(redacted) not set"},
		{"a short name", "DB_PASS=hunter2", "DB_PASS=(redacted)"},
		{"mount options", "username=bob,password=hunter2,vers=3.0: invalid", "username=bob,password=(redacted) invalid"},
		{"a quoted value", `password="correct horse" user=bob`, `password="(redacted)" user=bob`},
		{"a quote within quotes", `password="a\"b" user=bob`, `password="(redacted)" user=bob`},
		{"a quote never closed", `password="correct horse`, `password="(redacted)"`},
		{"JSON", `{"user":"bob","dbPassword": "hunter2"}`, `{"user":"bob","dbPassword": "(redacted)"}`},
		{"JSON in a string", `body {\"token\":\"hunter 2\"} refused`, `body {\"token\":\"(redacted)\"} refused`},
		{"YAML", "client_secret: swordfish", "client_secret: (redacted)"},
		{"a bare password with a colon", "password:swordfish", "password:(redacted)"},
		{"a bare token with a colon", "token: 9f86d081", "token: (redacted)"},
		{"a flag", "exec: --db-password hunter2 --host db", "exec: --db-password (redacted) --host db"},
		{"a flag with an equals sign", "--api-key=abc --x", "--api-key=(redacted) --x"},
		{"a flag in a list", `["--token", "abc"]`, `["--token", "(redacted)"]`},
		{"a bearer", "header Bearer abcdEFGH1234 sent", "header Bearer (redacted) sent"},
		{"basic", "Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: (redacted)"},
		{"a signed address", "https://s3.local/x?X-Amz-Signature=abc&X-Amz-Date=1", "https://s3.local/x?X-Amz-Signature=(redacted)"},
		{"an AWS key", "id AKIAIOSFODNN7EXAMPLE denied", "id (redacted) denied"},
		{"an AWS secret", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = (redacted)"},
		{"a JWT", "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln back", "got (redacted) back"},
		{"registry credentials", "auth eyJ1c2VybmFtZSI6ImJvYiJ9== sent", "auth (redacted) sent"},
		{"a join token", "docker swarm join --token SWMTKN-1-4x9z-2b 10.0.0.1:2377", "docker swarm join --token (redacted) 10.0.0.1:2377"},
		{"an unlock key", "unlock with SWMKEY-1-7c37Cc8654o6p38HnroywCi19pllOnGtbdZEgtKxZu8.", "unlock with (redacted)."},
		{"a private key", "key -----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- end", "key (redacted) end"},
		{"a private key cut short", "-----BEGIN PRIVATE KEY-----\nMHc", "(redacted)"},
		{"a forge's token", "clone with ghp_abcdefghijklmnop", "clone with (redacted)"},
	} {
		if got := Text(c.text); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.text, got, c.want)
		}
	}
}

// sentences are Docker's, and things that look like credentials and are none.
var sentences = []string{
	"no suitable node (insufficient resources on 3 nodes)",
	"no suitable node (scheduling constraints not satisfied on 2 nodes; 1 node not available for new tasks)",
	"max replicas per node limit exceed",
	"cannot fulfill requested CSI volume mounts on 1 node",
	"assigned node no longer meets constraints",
	"node is missing network attachments, ip addresses may be exhausted",
	`create data: error looking up volume plugin rexray: plugin "rexray" not found`,
	`invalid mount config for type "bind": bind source path does not exist: /srv/data`,
	`logger: no log driver named 'splunkx' is registered: error looking up logging plugin splunkx: plugin "splunkx" not found`,
	`legacy plugin: Post "http://%2Frun%2Fdocker%2Fplugins%2Fnfs.sock/Plugin.Activate": dial unix /run/docker/plugins/nfs.sock: connect: connection refused`,
	"No such image: registry.local:5000/shop/web:1.2@sha256:2f3f9c2f3f9c2f3f9c2f3f9c2f3f9c2f3f9c2f3f9c2f3f9c2f3f9c2f3f9c2f3f",
	"No such image: shop/vault-token:1.2",
	"docker://alpine@sha256:2f3f9c",
	"starting container failed: unable to get secret from secret store: secret 7xk2v3qh4t5z6 not found",
	"task not authorized to access secret 7xk2v3qh4t5z6",
	"secret not found: db_password",
	"ContainerSpec: image reference must be provided",
	"failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.docker.io/token?scope=repository%3Ax%3Apull&service=registry.docker.io: 401 Unauthorized",
	"failed to fetch anonymous token: Get \"https://auth.docker.io/token\": EOF",
	`unauthorized: authentication required, Www-Authenticate: Bearer realm="https://auth.docker.io/token"`,
	"no basic auth credentials",
	"unauthorized: incorrect username or password",
	"basic authentication is disabled",
	"denied: requested access to the resource is denied",
	"task: non-zero exit (143): dockerexec: unhealthy container",
	`driver failed programming external connectivity on endpoint web.1.x (5c9f): Bind for 0.0.0.0:80 failed: port is already allocated`,
	"rpc error: code = Unknown desc = The swarm does not have a leader. It's possible that too few managers are online.",
	"update paused due to failure or early termination of task 73dnnwmutpm9dcngllzfcas02",
	`OCI runtime create failed: runc create failed: unable to start container process: exec: "/nope": stat /nope: no such file or directory: unknown`,
	"node.labels.token==yes",
	"bpxbeic50sgn7qfzhmclqbg8d",
	"worker-7.eu.example.com",
	"Swarm is encrypted and needs to be unlocked before it can be used. Please use \"docker swarm unlock\" to unlock it.",
	"error while mounting volume '/var/lib/docker/volumes/x/_data': failed to mount local volume: mount :/exports:/data, data: addr=10.0.0.9: connection refused",
}

func TestOtherTextPassesAsItIs(t *testing.T) {
	t.Parallel()
	for _, s := range sentences {
		if got := Text(s); got != s {
			t.Errorf("%q\n became %q", s, got)
		}
	}
}

func FuzzTextIsStable(f *testing.F) {
	for _, s := range sentences {
		f.Add(s)
	}
	f.Add(`a password="x\" --token y Authorization: Bearer abcd1234 https://a:b@c/ 'pwd':'z`)
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Errorf("%q\n once %q\ntwice %q", s, once, twice)
		}
	})
}
