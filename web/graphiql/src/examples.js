// The operations that GraphiQL opens with. `npm run check` validates them against the schema.

const signUp = () => ({
  query: `# Makes an account. The name in the variables below is new
# each time this page loads. Then sign in with it in the bar
# above: the other tabs are then about you.
mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    token
    viewer { user { id handle } }
    userErrors { code message path }
  }
}
`,
  variables: ({ newHandle }) => ({ input: { handle: newHandle, name: 'A visitor', password: 'choose a long one' } }),
});

const publicWall = (demo) => ({
  query: `# A public wall: what anyone may see, signed in or not.
${demo ? '' : '# Put the handle of someone you know into the variables.\n'}query PublicWall($handle: String!) {
  user(handle: $handle) {
    name
    bio
    avatarUrl
    wall(first: 5) {
      nodes {
        __typename
        id
        text
        author { handle }
        commentCount
        latestComments {
          author { handle }
          text
        }
        reactionCounts { kind count }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`,
  variables: ({ handle }) => ({ handle }),
});

const myNews = (demo) => ({
  query: `# SIGN IN FIRST (${demo ? 'one click in' : 'in'} the bar above).
# Your news: posts by the people you follow, and yours,
# newest first. For the next page, pass the endCursor of
# pageInfo as "after".
query MyNews($after: String) {
  viewer {
    user { handle }
    news(first: 10, after: $after) {
      nodes {
        __typename
        id
        createdAt
        author { handle name }
        wallOwner { handle }
        text
        ... on PhotoPost { url caption width height }
        ... on LinkPost { url title }
        ... on CheckinPost { place latitude longitude }
        ... on PollPost {
          question
          options { text votesCount }
        }
        viewerReaction
        viewerCanComment
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`,
});

const postSomething = (demo) => ({
  query: `# SIGN IN FIRST (${demo ? 'one click in' : 'in'} the bar above).
# Posts on your own wall. The variables below say what, and
# who may see it. Mistakes come back in userErrors, with a
# path into the input.
mutation PostSomething($input: CreatePostInput!) {
  createPost(input: $input) {
    post {
      __typename
      id
      text
      audience { kind }
    }
    userErrors { code message path }
  }
}
`,
  variables: () => ({
    input: {
      content: { status: { text: 'Hello from GraphiQL!' } },
      audience: { kind: 'PUBLIC' },
    },
  }),
});

const thread = (demo) => ({
  query: `# Comments as a tree: every reply comes under its parent.
# The orders OLDEST and NEWEST list them by time.
${demo ? '' : '# Put the handle of someone you know into the variables.\n'}query Thread($handle: String!) {
  user(handle: $handle) {
    wall(first: 3) {
      nodes {
        id
        text
        commentCount
        comments(order: THREADED, first: 20) {
          nodes {
            slug
            depth
            author { handle }
            text
            isDeleted
            createdAt
          }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
}
`,
  variables: ({ handle }) => ({ handle }),
});

const liveNews = (demo) => ({
  query: `# SIGN IN FIRST (${demo ? 'one click in' : 'in'} the bar above).
# Live: new posts in your news. ${
    demo
      ? 'Run it and wait: someone\n# posts every half minute or so.'
      : 'Run it, then post from\n# a second window, as yourself or as someone you follow.'
  }
subscription LiveNews {
  newsItemAdded {
    cursor
    event
    post {
      id
      text
      author { handle }
    }
  }
}
`,
});

const liveComments = (demo, { postId }) => ({
  query: `# Live: new comments on one post.
${
    demo
      ? '# Run it and wait: the people of the demo talk about this\n# post all the time.'
      : postId
        ? '# Run it, then comment on the post from a second window.'
        : '# Put its id into the variables below (PostSomething\n# answers with one), run it, then comment on the post from\n# a second window.'
  }
subscription LiveComments($postId: ID!) {
  commentAdded(postId: $postId) {
    cursor
    event
    comment {
      slug
      depth
      text
      author { handle }
    }
  }
}
`,
  variables: () => ({ postId: postId ?? '' }),
});

const ads = (demo) => ({
  query: `# Ads for a place on a page, best first, signed in or not.
# Link to clickUrl, and give impressionToken to
# recordAdImpression when the ad was really shown.
${demo ? '' : '# Without ads there is nothing to choose: plaza ads import --help\n'}query Ads($site: String!, $zone: String!, $keywords: [String!]!) {
  ads(site: $site, zone: $zone, keywords: $keywords, count: 2) {
    id
    headline
    body
    imageUrl
    advertiser
    why
    clickUrl
    impressionToken
  }
}
`,
  variables: () => ({ site: 'plaza', zone: 'sidebar', keywords: ['boats', 'books'] }),
});

const examples = [publicWall, myNews, postSomething, thread, liveNews, liveComments, ads];

// exampleTabs returns GraphiQL's default tabs, filled in with their subject: { newHandle, handle, postId }. An empty Plaza
// starts with signing up, a demo with something to see.
export function exampleTabs(isDemo, subject) {
  return (isDemo ? [...examples, signUp] : [signUp, ...examples]).map((example) => {
    const { query, variables } = example(isDemo, subject);
    return { query, variables: variables && JSON.stringify(variables(subject), null, 2) };
  });
}
