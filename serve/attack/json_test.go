package attack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// mib is the length of the longest body that the server reads, with room for a frame.
const mib = 16<<20 - 1000

// post sends a body with the token, and reads the answer.
func (a *arena) post(ctx context.Context, path, body string, header ...string) {
	q, err := http.NewRequestWithContext(ctx, "POST", "http://"+a.http+path, strings.NewReader(body))
	if err != nil {
		return
	}
	q.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(q)
	if err != nil {
		return
	}
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
}

const (
	predictPath = "/predict/strength"
	inferPath   = "/v2/models/strength/infer"
)

// filled is a text of n bytes: head, as many times piece as fit, tail.
func filled(n int, head, piece, tail string) string {
	times := (n - len(head) - len(tail)) / len(piece)
	return head + strings.Repeat(piece, times) + tail
}

// columns are n rows as tensors.
func columns(n int) string {
	numbers := func(v string) string { return "[" + strings.TrimSuffix(strings.Repeat(v+",", n), ",") + "]" }
	var all []string
	for _, name := range []string{"temperature", "temperature_std", "minutes"} {
		all = append(all, fmt.Sprintf(`{"name":%q,"datatype":"FP64","shape":[%d],"data":%s}`, name, n, numbers("1")))
	}
	all = append(all, fmt.Sprintf(`{"name":"resin","datatype":"BYTES","shape":[%d],"data":%s}`, n, numbers(`"birch"`)))
	return `"inputs":[` + strings.Join(all, ",") + `]`
}

// tableRows are n rows as objects.
func tableRows(n int) string {
	row := strings.TrimSuffix(strings.TrimPrefix(question, `{"rows":[`), `]}`)
	return `"rows":[` + strings.TrimSuffix(strings.Repeat(row+",", n), ",") + `]`
}

// jsonAttacks are bodies that would take more than they are long.
func jsonAttacks() []attack {
	many := func(name, path string, body func() string) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			text := body()
			together(6, func(int) { a.post(ctx, path, text) })
		}}
	}
	return []attack{
		many("outputs 200,000 times", inferPath, func() string {
			return `{` + columns(10_000) + filled(3_400_000, `,"outputs":[`, `{"name":"mean"},`, `{"name":"mean"}]}`)
		}),
		many("outputs 2,000 times", inferPath, func() string {
			return `{` + columns(10_000) + `,"outputs":[` + strings.Repeat(`{"name":"mean"},`, 2000) + `{"name":"mean"}]}`
		}),
		many("inputs that are empty", inferPath, func() string { return filled(mib, `{"inputs":[{}`, `,{}`, `]}`) }),
		many("inputs with a name only", inferPath, func() string { return filled(mib, `{"inputs":[{}`, `,{"name":"a"}`, `]}`) }),
		many("outputs that are empty", inferPath, func() string { return filled(mib, `{"outputs":[{}`, `,{}`, `]}`) }),
		many("parameters of lists", inferPath, func() string { return filled(mib, `{"parameters":{"headers":[[]`, `,[]`, `]}}`) }),
		many("parameters of objects", inferPath, func() string { return filled(mib, `{"parameters":{"headers":[{}`, `,{"a":{}}`, `]}}`) }),
		many("parameters by the million", inferPath, func() string { return filled(mib, `{"parameters":{"timeout":1`, `,"timeout":1`, `}}`) }),
		many("levels by the million", predictPath, func() string { return filled(mib, `{`+tableRows(1)+`,"quantiles":[1`, `,1`, `]}`) }),
		many("levels in a text", inferPath, func() string { return filled(mib, `{"parameters":{"quantiles":"0.1`, `,0.1`, `"}}`) }),
		many("lists within lists", predictPath, func() string { return strings.Repeat("[", mib) }),
		many("objects within objects", inferPath, func() string { return filled(mib, ``, `{"a":`, ``) }),
		many("unknown fields", predictPath, func() string { return filled(mib, `{"a":1`, `,"a":1`, `}`) }),
		many("unknown fields of tensors", inferPath, func() string { return filled(mib, `{"a":1`, `,"a":1`, `}`) }),
		many("a shape of all dimensions", inferPath, func() string {
			return filled(mib, `{"inputs":[{"name":"minutes","datatype":"FP64","shape":[1`, `,1`, `],"data":[1]}]}`)
		}),
		many("a shape that is huge", inferPath, func() string {
			return `{"inputs":[{"name":"minutes","datatype":"FP64","shape":[2147483648,2147483648,2147483648],"data":[1]}]}`
		}),
		many("a tensor of nothings", inferPath, func() string {
			return filled(mib, `{"inputs":[{"name":"minutes","datatype":"FP64","shape":[10000,800],"data":[null`, `,null`, `]}]}`)
		}),
		many("a tensor of empty texts", inferPath, func() string {
			return filled(mib, `{"inputs":[{"name":"resin","datatype":"BYTES","shape":[10000,500],"data":[""`, `,""`, `]}]}`)
		}),
		many("a tensor of identifiers", inferPath, func() string {
			return filled(mib, `{"inputs":[{"name":"resin","datatype":"UINT64","shape":[10000,70],"data":[1`, `,18446744073709551615`, `]}]}`)
		}),
		many("a text of escapes", predictPath, func() string { return filled(mib, `{"rows":[{"resin":"`, `\u0061`, `"}]}`) }),
		many("a name of escapes", predictPath, func() string { return filled(mib, `{"`, `\u0061`, `":1}`) }),
		many("an id of escapes", inferPath, func() string { return filled(mib, `{"id":"`, `\u0000`, `",`+columns(1)+`}`) }),
		many("a number of digits", predictPath, func() string { return filled(mib, `{"rows":[{"minutes":1`, `1`, `}]}`) }),
		many("rows that are too many", predictPath, func() string { return filled(mib, `{"rows":[[]`, `,[]`, `]}`) }),
		many("a density of many rows", predictPath, func() string { return `{` + tableRows(3900) + `,"density":1000}` }),
		many("levels of many rows", inferPath, func() string {
			return `{` + columns(10_000) + `,"parameters":{"quantiles":"` + strings.Repeat("0.5,", 300) + `0.5"}}`
		}),
		many("rows without end", predictPath, func() string { return `{` + tableRows(10_000) + `}` }),
	}
}
