// Package redact takes credentials out of the free text that people and programs write. It leaves Docker's own
// sentences, image references, ids and names alone.
package redact

import (
	"regexp"
	"strings"
	"unicode"
)

// Mark stands where a credential stood.
const Mark = "(redacted)"

const (
	// word is what names of variables, flags and members are made of.
	word = `[A-Za-z0-9_.-]*`
	// telling are the words in such a name that make its value a credential.
	telling = `(?i:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|signature|(?:api|access|private|account)[_-]?key)`
	name    = word + telling + word + `|` + word + `(?i:pass)`
	// value is quoted, in quotes that are escaped themselves, or goes to the next space. A quote that is never closed
	// goes to the end.
	value = `\\+"[^"]*(?:"|\z)|"(?:[^"\\]|\\.)*(?:"|\\?\z)|'[^']*(?:'|\z)|[^\s"']+`
)

var (
	pem = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\z)`)
	// known are credentials that are told by their form: those of Docker Swarm, AWS, code forges, Docker Hub and Slack, and
	// JSON in base64, which tokens (RFC 7519) and X-Registry-Auth are.
	known = regexp.MustCompile(`\bSWMTKN-1-[0-9A-Za-z-]+|\bSWMKEY-1-[0-9A-Za-z+/=]+` +
		`|\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}\b` +
		`|\b(?:gh[pousr]_|github_pat_|glpat-|dckr_pat_|xox[abprs]-)[A-Za-z0-9_-]{10,}` +
		`|\beyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)*=*`)
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^\s/"'<>]+)@(sha256:)?`)
	scheme   = regexp.MustCompile(`\b((?i:bearer|basic)[ \t]+)([A-Za-z0-9._~+/=-]{8,})`)
	header   = regexp.MustCompile(`((?i:authorization|x-registry-auth|cookie)(?:\\*["'])?[ \t]*[:=][ \t]*)([^"'\r\n]+)`)
	pair     = regexp.MustCompile(`(["']?)(` + name + `)((?:\\*["'])?[ \t]*[=:][ \t]*)(` + value + `)`)
	flag     = regexp.MustCompile(`(--?(?:` + name + `)(?:[ \t]+|["'],[ \t]*["']))([^\s"'-][^\s"']*)`)
)

// Text returns s with what looks like a credential replaced by Mark: passwords in addresses, values whose names tell,
// headers of authorisation, and what has the form of a well-known key or token. It takes linear time,
// as Go's regular expressions do.
func Text(s string) string {
	s = pem.ReplaceAllLiteralString(s, Mark)
	s = known.ReplaceAllLiteralString(s, Mark)
	s = each(userinfo, s, func(m []string) string {
		if m[3] != "" {
			return m[0] // an image reference with a digest
		}
		return m[1] + Mark + "@"
	})
	s = header.ReplaceAllString(s, "${1}"+Mark)
	s = each(scheme, s, func(m []string) string {
		if !mixed(m[2]) {
			return m[0] // "basic authentication"
		}
		return m[1] + Mark
	})
	s = each(pair, s, func(m []string) string {
		if closes := strings.ContainsAny(m[3], `"'`); closes && m[1] == "" || !credential(m[2], m[3], m[4]) {
			return m[0]
		}
		return m[1] + m[2] + m[3] + quoted(m[4])
	})
	return flag.ReplaceAllString(s, "${1}"+Mark)
}

// each replaces every match by what replace makes of it and its groups.
func each(pattern *regexp.Regexp, s string, replace func(groups []string) string) string {
	var out strings.Builder
	end := 0
	for _, at := range pattern.FindAllStringSubmatchIndex(s, -1) {
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = s[at[2*i]:at[2*i+1]]
			}
		}
		out.WriteString(s[end:at[0]])
		out.WriteString(replace(groups))
		end = at[1]
	}
	out.WriteString(s[end:])
	return out.String()
}

// credential tells a pair of name and value from a sentence with a colon ("failed to fetch token: unexpected status")
// from an image reference ("vault-token:1.2") and from a placement constraint.
func credential(name, separator, value string) bool {
	if value[0] == '=' && (strings.HasPrefix(name, "node.labels.") || strings.HasPrefix(name, "engine.labels.")) {
		return false
	}
	if strings.ContainsAny(separator, `="'`) || strings.ContainsAny(value[:1], `"'\`) {
		return true
	}
	switch bare := strings.ToLower(name); {
	case bare == "password" || bare == "passwd" || bare == "passphrase":
		return true
	case !strings.ContainsAny(separator, " \t"):
		return false
	case bare == "secret" || bare == "token" || strings.HasPrefix(bare, "credential") || bare == "signature" || strings.HasSuffix(bare, "pass"):
		return mixed(value)
	}
	return true
}

// mixed tells whether a word has a digit, or a capital behind a small letter, as words of a language do not.
func mixed(s string) bool {
	small := false
	for _, r := range s {
		if unicode.IsDigit(r) || small && unicode.IsUpper(r) {
			return true
		}
		small = small || unicode.IsLower(r)
	}
	return false
}

// quoted returns Mark in the quotes of the value.
func quoted(value string) string {
	open := value[:len(value)-len(strings.TrimLeft(value, `\`))]
	if rest := value[len(open):]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		open += rest[:1]
		return open + Mark + open
	}
	return Mark
}
