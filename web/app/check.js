// Validates the app's operations against the server's schema.
import * as graphql from 'graphql';
import { check } from '../check.mjs';
import * as operations from './src/api/operations.js';

check(graphql, Object.values(operations).map((document) => ({ query: graphql.print(document) })));
