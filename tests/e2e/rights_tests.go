package main

import (
	"os"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func rightsTests() []Test {
	return []Test{
		{Name: "missing rights are reported with verb, resource and the rule to add", Run: missingRights},
		{Name: "--keep-going leaves out what may not be read", Run: keepGoing},
	}
}

// half is a service account that may read what the reader may, but no budgets and no classes.
func (t *T) half() string {
	if t.plane.halfToken == "" {
		text, err := os.ReadFile("../../deploy/rbac-read.yaml")
		t.must(err, "rights")
		manifest := strings.ReplaceAll(string(text), "makeway-reader", "makeway-half")
		for _, right := range []string{"poddisruptionbudgets", "priorityclasses, "} {
			if !strings.Contains(manifest, right) {
				t.fail("deploy/rbac-read.yaml has no %q", right)
			}
			manifest = strings.ReplaceAll(manifest, right, map[bool]string{true: "none"}[right ==
				"poddisruptionbudgets"])
		}
		t.reader() // The namespace comes with it.
		var documents []string
		for _, document := range strings.Split(manifest, "\n---\n") {
			if !strings.Contains(document, "kind: Namespace\n") {
				documents = append(documents, document)
			}
		}
		t.apply(strings.Join(documents, "\n---\n"))
		t.mayListPods("system:serviceaccount:makeway:makeway-half")
		token, err := t.plane.Client.CoreV1().ServiceAccounts("makeway").CreateToken(t.ctx,
			"makeway-half", &authentication.TokenRequest{}, meta.CreateOptions{})
		t.must(err, "token")
		t.plane.halfToken = token.Status.Token
	}
	path := t.dir + "/half.kubeconfig"
	t.must(t.plane.writeKubeconfig(path, Login{Token: t.plane.halfToken}), "kubeconfig")
	return path
}

func missingRights(t *T) {
	t.seed()
	run := t.makeway("plan", "--kubeconfig", t.half())
	if run.Status != 1 || run.Out != "" {
		t.fail("exit status %d, printed %q", run.Status, run.Out)
	}
	t.contains(run.Err, "403", "list", "poddisruptionbudgets", "priorityclasses",
		"policy", "scheduling.k8s.io", "makeway-half")
	// The reported rules are enough: they are those that we took away.
	t.contains(run.Err, "resources: [poddisruptionbudgets]", "resources: [priorityclasses]")
}

func keepGoing(t *T) {
	t.seed()
	run := t.makeway("plan", "--kubeconfig", t.half(), "--keep-going")
	if run.Status != 0 {
		t.fail("exit status %d\n%s", run.Status, run.Err)
	}
	t.contains(run.Err, "without poddisruptionbudgets", "without priorityclasses")
	t.contains(run.Out, "urgent")
}
