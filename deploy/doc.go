// Package deploy holds the ways to run stopgate as a service: the Helm chart, a compose file,
// systemd units and the image. Its tests render, read and build all of them. It is a module of
// its own, so that programs that embed stopgate do not get the libraries of Kubernetes.
package deploy
