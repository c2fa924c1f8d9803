// What the sign-in bar sends. `npm run check` validates it against the schema.
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
