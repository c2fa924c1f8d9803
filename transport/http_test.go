package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/internal/testtime"
	"plaza/transport/codes"
	"plaza/transport/request"
)

const acceptGraphQL = "Accept: application/graphql-response+json"

func TestAnswersQueryWithCost(t *testing.T) {
	s := newTestServer(t, nil)
	got := s.query(t, `{ viewer }`, "Authorization: Bearer ada")
	want := `{"data":{"viewer":"ada"},"extensions":{"cost":{"requestedQueryCost":1,"maximumQueryCost":50000}}}`
	if got.status != 200 || got.body != want {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	for name, value := range map[string]string{
		"Content-Type":           "application/json; charset=utf-8",
		"X-Content-Type-Options": "nosniff",
		"Cache-Control":          "no-store",
		"Vary":                   "Accept",
	} {
		if got.header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), value)
		}
	}
	if n := s.operations.Load(); n != 1 {
		t.Errorf("AroundOperations ran %d times", n)
	}
	if n := s.authentified.Load(); n != 1 {
		t.Errorf("Authenticate ran %d times", n)
	}
}

func TestStatusByMediaType(t *testing.T) {
	s := newTestServer(t, nil)
	cases := []struct {
		name, body        string
		json, graphql     int
		code              string
		withData, noError bool
	}{
		{"valid", `{"query":"{ viewer }"}`, 200, 200, "", true, true},
		{"operation by name", `{"query":"query A{viewer} query B{viewer}","operationName":"B"}`, 200, 200, "", true, true},
		{"nulls and unknown keys", `{"query":"{viewer}","variables":null,"operationName":null,"extensions":null,"id":1}`, 200, 200, "", true, true},
		{"a field fails", `{"query":"{ public }"}`, 200, 200, "", true, false},
		{"data is null", `{"query":"{ required }"}`, 200, 200, "", true, false},
		{"syntax", `{"query":"{"}`, 200, 400, codes.ParseFailed, false, false},
		{"no operation", `{"query":"fragment F on Query{viewer}"}`, 200, 400, codes.ParseFailed, false, false},
		{"unknown field", `{"query":"{ nothing }"}`, 200, 400, codes.ValidationFailed, false, false},
		{"unknown operation", `{"query":"query A{viewer}","operationName":"B"}`, 200, 400, codes.ValidationFailed, false, false},
		{"which operation", `{"query":"query A{viewer} query B{viewer}"}`, 200, 400, codes.ValidationFailed, false, false},
		{"@defer", `{"query":"{ ... @defer { viewer } }"}`, 200, 400, codes.ValidationFailed, false, false},
		{"@stream", `{"query":"{ posts @stream { id } }"}`, 200, 400, codes.ValidationFailed, false, false},
		{"Int literal over 32 bits", `{"query":"{ number(n: 2147483648) }"}`, 200, 400, codes.ValidationFailed, false, false},
		{"nested Int literal", `{"query":"{ echo(input:{text:\"\",nested:{text:\"\",n:99999999999}}) }"}`, 200, 400, codes.ValidationFailed, false, false},
		{"missing variable", `{"query":"query($i:EchoInput!){echo(input:$i)}"}`, 200, 400, codes.BadUserInput, false, false},
		{"too costly", `{"query":"{news(first:100){nodes{author{news(first:100){nodes{author{news(first:100){nodes{id}}}}}}}}}"}`, 200, 400, codes.QueryTooComplex, false, false},
		{"subscription", `{"query":"subscription{ticks(count:1){n}}"}`, 400, 400, codes.BadUserInput, false, false},
		{"empty body", ``, 400, 400, codes.BadUserInput, false, false},
		{"no JSON", `{"query":`, 400, 400, codes.BadUserInput, false, false},
		{"trailing garbage", `{"query":"{viewer}"}{}`, 400, 400, codes.BadUserInput, false, false},
		{"null", `null`, 400, 400, codes.BadUserInput, false, false},
		{"batch", `[{"query":"{viewer}"}]`, 400, 400, codes.BadUserInput, false, false},
		{"no query", `{"variables":{}}`, 400, 400, codes.BadUserInput, false, false},
		{"empty query", `{"query":""}`, 400, 400, codes.BadUserInput, false, false},
		{"key in another case", `{"Query":"{viewer}"}`, 400, 400, codes.BadUserInput, false, false},
		{"query is a number", `{"query":7}`, 400, 400, codes.BadUserInput, false, false},
		{"variables are a list", `{"query":"{viewer}","variables":[1]}`, 400, 400, codes.BadUserInput, false, false},
		{"variables are a string", `{"query":"{viewer}","variables":"{}"}`, 400, 400, codes.BadUserInput, false, false},
		{"operationName is a list", `{"query":"{viewer}","operationName":[]}`, 400, 400, codes.BadUserInput, false, false},
		{"extensions are a number", `{"query":"{viewer}","extensions":1}`, 400, 400, codes.BadUserInput, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for accept, status := range map[string]int{"application/json": c.json, "application/graphql-response+json": c.graphql} {
				got := s.post(t, c.body, "Accept: "+accept)
				if got.status != status || got.code(t) != c.code {
					t.Errorf("%s: got %d %s, want %d %s", accept, got.status, got.body, status, c.code)
				}
				if media := got.header.Get("Content-Type"); media != accept+"; charset=utf-8" {
					t.Errorf("%s: content type %s", accept, media)
				}
				if withData := strings.Contains(got.body, `"data":`); withData != c.withData {
					t.Errorf("%s: data in %s: %t", accept, got.body, withData)
				}
				if noError := !strings.Contains(got.body, `"errors":`); noError != c.noError {
					t.Errorf("%s: no errors in %s: %t", accept, got.body, noError)
				}
			}
		})
	}
}

func TestNegotiation(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                  mediaJSON,
		"*/*":                               mediaJSON,
		"application/*":                     mediaJSON,
		"application/json":                  mediaJSON,
		"application/json; charset=utf-8":   mediaJSON,
		"application/graphql-response+json": mediaGraphQL,
		"APPLICATION/GraphQL-Response+JSON; charset=utf-8":                   mediaGraphQL,
		"application/graphql-response+json, application/json;q=0.9":          mediaGraphQL,
		"application/graphql-response+json;q=0.5, application/json":          mediaJSON,
		"application/json, application/graphql-response+json":                mediaJSON,
		"application/graphql-response+json, application/json":                mediaGraphQL,
		"application/json;q=0, */*":                                          mediaGraphQL,
		"text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8": mediaJSON,
		"garbage, application/graphql-response+json":                         mediaGraphQL,
		"application/graphql-response+json;q=2, application/json;q=0.1":      mediaJSON,
		"text/html":            "",
		"application/json;q=0": "",
		"*/*;q=0":              "",
		"application/json;q=nonsense, text/plain": "",
	} {
		got, ok := negotiate([]string{accept})
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q %t, want %q", accept, got, ok, want)
		}
	}
}

func TestRefusesByMethodAndHeaders(t *testing.T) {
	s := newTestServer(t, nil)
	mutation := `mutation{setText(text:"x")}`
	body := `{"query":"{viewer}"}`
	cases := []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		code, allow                string
	}{
		{"GET query", "GET", "/graphql?query=" + url.QueryEscape("{viewer}"), "", nil, 200, "", ""},
		{"GET with variables", "GET", "/graphql?query=" + url.QueryEscape("query($n:Int){number(n:$n)}") + "&variables=" + url.QueryEscape(`{"n":3}`), "", nil, 200, "", ""},
		{"GET mutation", "GET", "/graphql?query=" + url.QueryEscape(mutation), "", nil, 405, codes.MethodNotAllowed, "POST"},
		{"GET mutation among queries", "GET", "/graphql?operationName=M&query=" + url.QueryEscape("query Q{viewer} mutation M{setText(text:\"x\")}"), "", nil, 405, codes.MethodNotAllowed, "POST"},
		{"GET without query", "GET", "/graphql", "", nil, 400, codes.BadUserInput, ""},
		{"GET malformed query string", "GET", "/graphql?query=%zz", "", nil, 400, codes.BadUserInput, ""},
		{"GET malformed variables", "GET", "/graphql?query=" + url.QueryEscape("{viewer}") + "&variables={", "", nil, 400, codes.BadUserInput, ""},
		{"GET variables that break out", "GET", "/graphql?query=" + url.QueryEscape("{viewer}") + "&variables=" + url.QueryEscape(`{},"query":"{nothing}"`), "", nil, 400, codes.BadUserInput, ""},
		{"PATCH", "PATCH", "/graphql", body, []string{"Content-Type: application/json"}, 405, codes.MethodNotAllowed, "GET, POST, PUT, DELETE"},
		{"no content type", "POST", "/graphql", body, nil, 415, codes.UnsupportedMediaType, ""},
		{"text/plain", "POST", "/graphql", body, []string{"Content-Type: text/plain"}, 415, codes.UnsupportedMediaType, ""},
		{"multipart", "POST", "/graphql", body, []string{"Content-Type: multipart/form-data; boundary=x"}, 415, codes.UnsupportedMediaType, ""},
		{"form", "POST", "/graphql", "query=%7Bviewer%7D", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, codes.UnsupportedMediaType, ""},
		{"Latin-1", "POST", "/graphql", body, []string{"Content-Type: application/json; charset=latin1"}, 415, codes.UnsupportedMediaType, ""},
		{"gzip", "POST", "/graphql", body, []string{"Content-Type: application/json", "Content-Encoding: gzip"}, 415, codes.UnsupportedMediaType, ""},
		{"charset", "POST", "/graphql", body, []string{"Content-Type: application/json; charset=UTF-8"}, 200, "", ""},
		{"not acceptable", "POST", "/graphql", body, []string{"Content-Type: application/json", "Accept: text/html"}, 406, codes.NotAcceptable, ""},
		{"bad token", "POST", "/graphql", body, []string{"Content-Type: application/json", "Authorization: Bearer x"}, 401, codes.Unauthenticated, ""},
		{"bad token and bad body", "POST", "/graphql", "{", []string{"Content-Type: application/json", "Authorization: Bearer x"}, 401, codes.Unauthenticated, ""},
		{"bad token, own media type", "POST", "/graphql", body, []string{"Content-Type: application/json", acceptGraphQL, "Authorization: Bearer x"}, 401, codes.Unauthenticated, ""},
		{"failing database", "POST", "/graphql", body, []string{"Content-Type: application/json", "Authorization: Bearer broken"}, 500, codes.Internal, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := s.do(t, c.method, c.target, c.body, c.headers...)
			if got.status != c.status || got.code(t) != c.code || got.header.Get("Allow") != c.allow {
				t.Errorf("got %d %q %s", got.status, got.header.Get("Allow"), got.body)
			}
			if strings.Contains(got.body, secret) {
				t.Error("the secret leaked")
			}
			if wantData := c.code == ""; wantData != strings.Contains(got.body, `"data"`) {
				t.Errorf("data: %s", got.body)
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.HTTP.MaxBodyBytes = 100 })
	fits := `{"query":"{viewer}"` + strings.Repeat(" ", 100-len(`{"query":"{viewer}"}`)) + `}`
	if got := s.post(t, fits); got.status != 200 {
		t.Errorf("100 bytes: %d %s", got.status, got.body)
	}
	if got := s.post(t, fits+" "); got.status != 413 || got.code(t) != codes.PayloadTooLarge {
		t.Errorf("101 bytes: %d %s", got.status, got.body)
	}
}

func TestSlowBodyIsRefused(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.HTTP.BodyTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	status := make([]byte, len("HTTP/1.1 400"))
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := conn.Read(status); err != nil || string(status) != "HTTP/1.1 400" {
		t.Fatalf("%q %v", status, err)
	}
}

func TestBodyTimeoutDoesNotEndTheOperation(t *testing.T) {
	bodyTimeout := testtime.Scale(200 * time.Millisecond) // the body itself has to arrive in it
	s := newTestServer(t, func(o *Options) { o.HTTP.BodyTimeout = bodyTimeout })
	done := make(chan result, 1)
	go func() { done <- s.query(t, `mutation{holds}`) }()
	receive(t, s.resolver.Started)
	select { // well beyond the body's timeout nothing has cancelled it
	case <-s.resolver.Ended:
		t.Fatal("cancelled")
	case <-time.After(2 * bodyTimeout):
	}
	close(s.resolver.Release)
	if got := receive(t, done); !strings.Contains(got.body, "released") {
		t.Fatal(got.body)
	}
}

func TestBadTextNamesItsVariable(t *testing.T) {
	s := newTestServer(t, nil)
	const query = `"query":"query($input:EchoInput!){echo(input:$input)}"`
	cases := []struct{ name, body, variable string }{
		{"in an input", `{` + query + `,"variables":{"input":{"text":"a` + "\xff" + `b"}}}`, "variables.input.text"},
		{"in a list", `{` + query + `,"variables":{"input":{"text":"","tags":["ok","` + "\xc3" + `"]}}}`, "variables.input.tags.1"},
		{"in a key", `{` + query + `,"variables":{"input":{"te` + "\xff" + `xt":""}}}`, "a key of variables.input"},
		{"overlong", `{` + query + `,"variables":{"input":{"text":"` + "\xc0\xaf" + `"}}}`, "variables.input.text"},
		{"surrogate in UTF-8", `{` + query + `,"variables":{"input":{"text":"` + "\xed\xa0\x80" + `"}}}`, "variables.input.text"},
		{"lone surrogate escape", `{` + query + `,"variables":{"input":{"text":"\ud83d!"}}}`, "variables.input.text"},
		{"surrogates in the wrong order", `{` + query + `,"variables":{"input":{"text":"\udc00\ud800"}}}`, "variables.input.text"},
		{"beside a noncharacter", `{` + query + `,"variables":{"a":"` + "\ufdd0" + `","b":"\uFDD1","input":{"text":"` + "\xff" + `"}}}`, "variables.input.text"},
		{"in the query", `{"query":"{viewer}#` + "\xff" + `"}`, "query"},
		{"in the operation's name", `{"query":"{viewer}","operationName":"` + "\xff" + `"}`, "operationName"},
		{"in the extensions", `{"query":"{viewer}","extensions":{"a":["` + "\xff" + `"]}}`, "extensions.a.0"},
		{"in an unknown member", `{"query":"{viewer}","other":{"a":"` + "\xff" + `"}}`, "other.a"},
		{"in a top-level key", `{"query":"{viewer}","` + "\xff" + `":1}`, "a key of the request"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := s.post(t, c.body)
			d := got.decode(t)
			if got.status != 400 || len(d.Errors) != 1 || d.Errors[0].Extensions["code"] != codes.BadUserInput || d.Errors[0].Extensions["variable"] != c.variable {
				t.Errorf("got %d %s, want %s", got.status, got.body, c.variable)
			}
			if !strings.HasPrefix(d.Errors[0].Message, c.variable) || !utf8.ValidString(got.body) || strings.ContainsAny(got.body, "\uFFFD\uFDD0") {
				t.Errorf("message %q", d.Errors[0].Message)
			}
		})
	}
	t.Run("malformed as well", func(t *testing.T) {
		got := s.post(t, `{"query":"`+"\xff"+`hunter2`)
		if got.status != 400 || got.code(t) != codes.BadUserInput || strings.Contains(got.body, "hunter2") {
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
	t.Run("in a GET", func(t *testing.T) {
		got := s.do(t, "GET", "/graphql?query="+url.QueryEscape("{viewer}")+"&variables="+url.QueryEscape("{\"a\":\"\xff\"}"), "")
		if d := got.decode(t); got.status != 400 || d.Errors[0].Extensions["variable"] != "variables.a" {
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
}

func TestGoodTextPasses(t *testing.T) {
	s := newTestServer(t, nil)
	for text, want := range map[string]string{
		`\ud83d\ude00`:   "😀",
		`\\ud83d`:        `\ud83d`,
		`\\\u0041`:       `\A`,
		`\ufffd`:         "\uFFFD",
		"\uFFFD\uFDD0":   "\uFFFD\uFDD0",
		`caf\u00e9 \n\"`: "café \n\"",
	} {
		got := s.post(t, `{"query":"query($t:String!){echo(input:{text:$t})}","variables":{"t":"`+text+`"}}`)
		if d := got.decode(t); len(d.Errors) > 0 || string(d.Data) != `{"echo":`+quote(want)+`}` {
			t.Errorf("%s: %s", text, got.body)
		}
	}
}

func TestVariables(t *testing.T) {
	s := newTestServer(t, nil)
	cases := []struct{ name, typ, field, value, data, variable string }{
		{"Int", "Int", "number(n:$v)", `2147483647`, `{"number":2147483647}`, ""},
		{"Int too large", "Int", "number(n:$v)", `2147483648`, "", "variables.v"},
		{"Int quoted", "Int", "number(n:$v)", `"5"`, "", "variables.v"},
		{"Int fraction", "Int", "number(n:$v)", `1.5`, "", "variables.v"},
		{"Int object", "Int", "number(n:$v)", `{}`, "", "variables.v"},
		{"Int null", "Int", "number(n:$v)", `null`, `{"number":null}`, ""},
		{"Float", "Float", "ratio(x:$v)", `1`, `{"ratio":1}`, ""},
		{"Float quoted", "Float", "ratio(x:$v)", `"1"`, "", "variables.v"},
		{"Float too large", "Float", "ratio(x:$v)", `1e999`, "", "variables.v"},
		{"enum", "Color", "color(c:$v)", `"RED"`, `{"color":"RED"}`, ""},
		{"enum in another case", "Color", "color(c:$v)", `"red"`, "", "variables.v"},
		{"enum number", "Color", "color(c:$v)", `1`, "", "variables.v"},
		{"String", "EchoInput!", "echo(input:$v)", `{"text":"x"}`, `{"echo":"x"}`, ""},
		{"String number", "EchoInput!", "echo(input:$v)", `{"text":1}`, "", "variables.v.text"},
		{"String missing", "EchoInput!", "echo(input:$v)", `{}`, "", "variables.v.text"},
		{"String null", "EchoInput!", "echo(input:$v)", `{"text":null}`, "", "variables.v.text"},
		{"unknown field", "EchoInput!", "echo(input:$v)", `{"text":"","hat":1}`, "", "variables.v.hat"},
		{"nested Int", "EchoInput!", "echo(input:$v)", `{"text":"","nested":{"text":"","n":4294967296}}`, "", "variables.v.nested.n"},
		{"list item", "EchoInput!", "echo(input:$v)", `{"text":"","tags":["a",2]}`, "", "variables.v.tags.1"},
		{"null list item", "EchoInput!", "echo(input:$v)", `{"text":"","tags":["a",null]}`, "", "variables.v.tags.1"},
		{"ID number", "ID!", "nodes(ids:[$v]){id}", `7`, `{"nodes":[{"id":"0"}]}`, ""},
		{"ID fraction", "ID!", "nodes(ids:[$v]){id}", `7.5`, "", "variables.v"},
		{"ID boolean", "ID!", "nodes(ids:[$v]){id}", `true`, "", "variables.v"},
		{"Boolean", "Boolean!", "viewer @skip(if:$v)", `true`, `{}`, ""},
		{"Boolean quoted", "Boolean!", "viewer @skip(if:$v)", `"true"`, "", "variables.v"},
		{"single for list", "EchoInput!", "echo(input:$v)", `{"text":"x","tags":"a"}`, `{"echo":"x"}`, ""},
		{"list for object", "EchoInput!", "echo(input:$v)", `[]`, "", "variables.v"},
		{"null for non-null", "EchoInput!", "echo(input:$v)", `null`, "", "variables.v"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := s.post(t, `{"query":"query($v:`+c.typ+`){`+c.field+`}","variables":{"v":`+c.value+`}}`)
			d := got.decode(t)
			if c.variable == "" {
				if string(d.Data) != c.data || len(d.Errors) > 0 {
					t.Errorf("got %s", got.body)
				}
				return
			}
			if d.Data != nil || len(d.Errors) != 1 || d.Errors[0].Extensions["code"] != codes.BadUserInput || d.Errors[0].Extensions["variable"] != c.variable {
				t.Errorf("got %s, want %s", got.body, c.variable)
			}
		})
	}
}

func TestErrorsOfResolvers(t *testing.T) {
	s := newTestServer(t, nil)
	for query, message := range map[string]string{
		`{ internal }`: "internal server error",
		`{ panics }`:   "internal server error",
		`{ public }`:   "for everyone",
	} {
		got := s.query(t, query)
		d := got.decode(t)
		if len(d.Errors) != 1 || d.Errors[0].Message != message || len(d.Errors[0].Path) != 1 || strings.Contains(got.body, secret) {
			t.Errorf("%s: %s", query, got.body)
		}
		id := got.header.Get("X-Request-Id")
		if message == "for everyone" {
			if strings.Contains(s.log.String(), id) {
				t.Error("a public error was logged")
			}
			continue
		}
		if n := strings.Count(s.log.String(), id); n != 1 {
			t.Errorf("%s: logged %d times", query, n)
		}
		if d.Errors[0].Extensions["requestId"] != id || d.Errors[0].Extensions["code"] != codes.Internal {
			t.Errorf("%s: extensions %v, id %s", query, d.Errors[0].Extensions, id)
		}
	}
	if !strings.Contains(s.log.String(), secret) || !strings.Contains(s.log.String(), "resolvers.go") {
		t.Error("the log lacks the cause or the stack")
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	s := newTestServer(t, nil)
	first, second := s.query(t, `{ requestId }`), s.query(t, `{ requestId }`)
	for _, got := range []result{first, second} {
		if id := got.header.Get("X-Request-Id"); id == "" || !strings.Contains(got.body, id) {
			t.Errorf("id %q in %s", id, got.body)
		}
	}
	if first.body == second.body {
		t.Error("two requests, one id")
	}
}

func TestPanicOutsideResolvers(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Execution.AroundOperations = append(o.Execution.AroundOperations, func(context.Context, graphql.OperationHandler) graphql.ResponseHandler {
			panic(secret)
		})
	})
	got := s.query(t, `{ viewer }`)
	if got.status != 500 || got.code(t) != codes.Internal || strings.Contains(got.body, secret) {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestCustomPresenter(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Execution.ErrorPresenter = func(ctx context.Context, err error) *gqlerror.Error {
			return codes.Errorf("TEAPOT", "%s %t", request.ID(ctx), errors.Is(err, errUnauthenticated))
		}
	})
	got := s.query(t, `{ internal }`)
	if d := got.decode(t); got.code(t) != "TEAPOT" || d.Errors[0].Message != got.header.Get("X-Request-Id")+" false" {
		t.Error(got.body)
	}
}

func TestClientThatLeavesCancels(t *testing.T) {
	s := newTestServer(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(`{"query":"{waits}"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	done := make(chan error, 1)
	go func() {
		resp, err := s.Client().Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	receive(t, s.resolver.Started)
	leave()
	receive(t, s.resolver.Ended)
	if err := receive(t, done); err == nil {
		t.Error("the client got an answer")
	}
}

func TestOperationTimeout(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Execution.OperationTimeout = 20 * time.Millisecond })
	if got := s.query(t, `{ waits }`); got.status != 200 || got.code(t) != codes.Timeout {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestShutdownWaitsForRequests(t *testing.T) {
	s := newTestServer(t, nil)
	answered := make(chan result, 1)
	go func() { answered <- s.query(t, `mutation{holds}`) }()
	receive(t, s.resolver.Started)
	down := make(chan error, 1)
	go func() { down <- s.transport.Shutdown(context.Background()) }()
	eventually(t, "new requests are refused", func() bool {
		got := s.query(t, `{ viewer }`)
		return got.status == 503 && got.code(t) == codes.Unavailable
	})
	select {
	case err := <-down:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	close(s.resolver.Release)
	if got := receive(t, answered); got.status != 200 || !strings.Contains(got.body, "released") {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if err := receive(t, down); err != nil {
		t.Error(err)
	}
}

func TestShutdownCancelsWhenOutOfTime(t *testing.T) {
	s := newTestServer(t, nil)
	answered := make(chan result, 1)
	go func() { answered <- s.query(t, `mutation{holds}`) }()
	receive(t, s.resolver.Started)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.transport.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	receive(t, s.resolver.Ended)
	receive(t, answered)
}

// TestAuthenticationErrorKeepsItsCode: the presenter may say more than UNAUTHENTICATED; the status
// stays 401.
func TestAuthenticationErrorKeepsItsCode(t *testing.T) {
	for code, want := range map[string]struct {
		status int
		code   string
	}{
		"ACCOUNT_SUSPENDED": {401, "ACCOUNT_SUSPENDED"},
		"":                  {401, codes.Unauthenticated},
		"dropped":           {500, codes.Internal},
		codes.Unavailable:   {503, codes.Unavailable},
	} {
		s := newTestServer(t, func(o *Options) {
			o.Execution.Authenticate = func(ctx context.Context, _ string) (context.Context, error) { return ctx, errors.New(secret) }
			o.Execution.ErrorPresenter = func(context.Context, error) *gqlerror.Error {
				switch code {
				case "dropped":
					return nil
				case "":
					return gqlerror.Errorf("who are you?")
				}
				return codes.Errorf(code, "no")
			}
		})
		got := s.query(t, `{ viewer }`)
		if got.status != want.status || got.code(t) != want.code || strings.Contains(got.body, secret) {
			t.Errorf("%q: got %d %s", code, got.status, got.body)
		}
	}
}

// TestExtensionThatDoesNotMarshal: a server's bug becomes an error, over HTTP and on a socket.
func TestExtensionThatDoesNotMarshal(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Execution.AroundOperations = []graphql.OperationMiddleware{
			func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
				respond := next(ctx)
				return func(ctx context.Context) *graphql.Response {
					resp := respond(ctx)
					resp.Extensions = map[string]any{"bad": make(chan int)}
					return resp
				}
			},
		}
	})
	if got := s.query(t, `{ viewer }`); got.status != 500 || got.code(t) != codes.Internal {
		t.Errorf("got %d %s", got.status, got.body)
	}
	c := s.open(t)
	c.subscribe("1", `{ viewer }`)
	c.wantPart(`{"id":"1","type":"error"`, codes.Internal)
}

func TestExtensionsOfResponsesStandBesideTheCost(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Execution.AroundResponses = []graphql.ResponseMiddleware{
			func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
				graphql.RegisterExtension(ctx, "own", 1)
				return next(ctx)
			},
		}
	})
	got := s.query(t, `{ viewer }`)
	if !strings.HasSuffix(got.body, `,"extensions":{"cost":{"requestedQueryCost":1,"maximumQueryCost":50000},"own":1}}`) {
		t.Error(got.body)
	}
}
