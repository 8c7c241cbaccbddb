package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"
)

func credentialTests() []Test {
	return []Test{
		{Name: "a client certificate lets us in", Run: withCertificate},
		{Name: "a token lets us in", Run: withToken},
		{Name: "a token file lets us in", Run: withTokenFile},
		{Name: "an exec plugin lets us in", Run: withPlugin},
		{Name: "HTTP/2 is spoken over TLS, and only GET", Run: overHTTP2},
		{Name: "a wrong token, a wrong authority and a closed port are told with remedies",
			Run: letNobodyIn},
	}
}

// letsIn compares the answer for this login with the administrator's.
func (t *T) letsIn(login Login) {
	t.seed()
	path := t.dir + "/login.kubeconfig"
	t.must(t.plane.writeKubeconfig(path, login), "kubeconfig")
	got := t.succeed("snapshot", "--kubeconfig", path)
	t.contains(got, "n1", "n2", "n3")
}

func withCertificate(t *T) {
	t.reader() // The role comes with it.
	pair, err := t.plane.authority.sign(x509.ExtKeyUsageClientAuth, "certified", "operators")
	t.must(err, "certificate")
	_, err = t.plane.Client.RbacV1().ClusterRoleBindings().Create(t.ctx, &rbac.ClusterRoleBinding{
		ObjectMeta: meta.ObjectMeta{Name: "operators"},
		RoleRef:    rbac.RoleRef{Kind: "ClusterRole", Name: "makeway-reader"},
		Subjects:   []rbac.Subject{{Kind: "Group", Name: "operators"}},
	}, meta.CreateOptions{})
	t.must(err, "binding")
	t.mayListPods("certified", "operators")
	t.letsIn(Login{Pair: pair})
}

func withToken(t *T) {
	t.reader()
	t.letsIn(Login{Token: t.plane.readerToken})
}

func withTokenFile(t *T) {
	t.reader()
	path := t.dir + "/token"
	t.must(os.WriteFile(path, []byte(t.plane.readerToken+"\n"), 0o600), "token")
	t.letsIn(Login{TokenFile: path})
}

func withPlugin(t *T) {
	t.reader()
	path := t.dir + "/plugin"
	script := fmt.Sprintf("#!/bin/sh\necho \"asked $KUBERNETES_EXEC_INFO\" >> %s/asked\n"+
		`echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",`+
		`"status":{"token":"%s"}}'`+"\n", t.dir, t.plane.readerToken)
	t.must(os.WriteFile(path, []byte(script), 0o700), "plugin")
	t.letsIn(Login{Exec: &api.ExecConfig{APIVersion: "client.authentication.k8s.io/v1",
		Command: path, InteractiveMode: api.NeverExecInteractiveMode}})
	asked, err := os.ReadFile(t.dir + "/asked")
	t.must(err, "what the plugin was asked")
	if strings.Count(string(asked), "asked ") != 1 {
		t.fail("the plugin was not asked exactly once:\n%s", asked)
	}
}

func overHTTP2(t *T) {
	t.seed()
	front := t.front()
	defer front.server.Close()
	t.succeed("plan", "--kubeconfig", t.readerAt(front.URL))
	t.note("%d requests", front.counted(t))
}

func letNobodyIn(t *T) {
	t.reader()
	other, err := newAuthority()
	t.must(err, "authority")
	ports, err := freePorts(1)
	t.must(err, "port")
	for _, row := range []struct {
		login Login
		says  []string
	}{
		{Login{Token: "wrong"}, []string{"401", "credentials"}},
		{Login{Token: t.plane.readerToken, Authority: other.PEM},
			[]string{"certificate", "certificate-authority"}},
		{Login{Token: t.plane.readerToken, Server: fmt.Sprintf("https://127.0.0.1:%d", ports[0])},
			[]string{"connection refused"}},
	} {
		path := t.dir + "/wrong.kubeconfig"
		t.must(t.plane.writeKubeconfig(path, row.login), "kubeconfig")
		run := t.makeway("snapshot", "--kubeconfig", path)
		if run.Status != 1 || run.Out != "" {
			t.fail("exit status %d, printed %q, %s", run.Status, run.Out, run.Err)
		}
		t.contains(run.Err, row.says...)
	}
}
