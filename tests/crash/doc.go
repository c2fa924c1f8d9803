// Package crash has the tests of servers that are killed, restarted, cut off from their database or out of disk: nothing stored is lost, and no
// request fails that need not.
package crash
