// The operations that the sign-in bar sends. `npm run check` validates them against the schema.
export const signInMutation = `mutation SignIn($input: SignInInput!) {
  signIn(input: $input) {
    token
    viewer { user { handle name } }
    userErrors { code message path }
  }
}`;

export const signOutMutation = `mutation SignOut {
  signOut { userErrors { code message } }
}`;

export const viewerQuery = `query Viewer {
  viewer { user { handle name } }
}`;

// Sent once, before anything is shown: it finds subjects for the examples. Parts of it may fail.
export const subjectQuery = `query Subject($ids: [ID!]!, $handle: String!) {
  nodes(ids: $ids) { id }
  user(handle: $handle) { wall(first: 1) { nodes { id } } }
  viewer {
    user { handle }
    wall(first: 1) { nodes { id } }
    news(first: 1) { nodes { id } }
  }
}`;
