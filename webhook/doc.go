// Package webhook asks a program of the site over HTTP whether something may be published. It signs
// what it sends, so that the program knows that Plaza asks.
package webhook
