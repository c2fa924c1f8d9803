// Validates the example operations, and those of the page itself, against the server's schema.
import * as graphql from 'graphql';
import { check } from '../check.mjs';
import { exampleTabs } from './src/examples.js';
import * as barOperations from './src/operations.js';

const subject = { newHandle: 'visitor_1', handle: 'ada', postId: 'post_1' };
check(graphql, [
  ...exampleTabs(true, subject),
  ...exampleTabs(false, { ...subject, postId: undefined }),
  ...Object.values(barOperations).map((query) => ({ query })),
]);
