// Package deploy holds the ways to run stopgate as a service: the Helm chart, a compose file and
// systemd units; and everything that a release publishes: release makes it, with the image of
// package image and the bill of materials of package sbom. Its tests render, read and build all of
// them. It is a module of its own, so that programs that embed stopgate do not get the libraries of
// Kubernetes and of packages.
package deploy
