// Package crash tests servers that are killed, restarted, cut off from their database or out of
// disk space: no stored data is lost, and no request fails unnecessarily.
package crash
