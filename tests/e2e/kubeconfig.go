package main

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Login is the user and the server of a kubeconfig; empty fields are left out.
type Login struct {
	Token, TokenFile string
	Pair             Pair
	Exec             *api.ExecConfig
	Server           string // Empty: the API server itself.
	Authority        []byte // Empty: the plane's.
}

func (p *Plane) writeKubeconfig(path string, login Login) error {
	cluster := &api.Cluster{Server: p.Server, CertificateAuthorityData: p.authority.PEM}
	if login.Server != "" {
		cluster.Server = login.Server
	}
	if len(login.Authority) > 0 {
		cluster.CertificateAuthorityData = login.Authority
	}
	return clientcmd.WriteToFile(api.Config{
		Clusters: map[string]*api.Cluster{"e2e": cluster},
		AuthInfos: map[string]*api.AuthInfo{"e2e": {
			Token: login.Token, TokenFile: login.TokenFile, Exec: login.Exec,
			ClientCertificateData: login.Pair.Certificate, ClientKeyData: login.Pair.Key,
		}},
		Contexts:       map[string]*api.Context{"e2e": {Cluster: "e2e", AuthInfo: "e2e"}},
		CurrentContext: "e2e",
	}, path)
}
