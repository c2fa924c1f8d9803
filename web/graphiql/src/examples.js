// The operations that GraphiQL opens with. `npm run check` validates them against the schema.

const publicWall = {
  query: `# A public wall: what anybody may see, signed in or not.
query PublicWall {
  user(handle: "ada") {
    name
    bio
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
};

const myNews = {
  query: `# Your news, once you are signed in: posts by the people
# you follow and your own, newest first. For the next page,
# pass pageInfo.endCursor as "after".
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
};

const postSomething = {
  query: `# Posts on your own wall, once you are signed in. The
# variables below say what, and who may see it. Mistakes
# come back in userErrors, with a path into the input.
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
  variables: {
    input: {
      content: { status: { text: 'Hello from GraphiQL!' } },
      audience: { kind: 'PUBLIC' },
    },
  },
};

const thread = {
  query: `# Comments as a tree: every reply comes under its parent.
# The orders OLDEST and NEWEST list them by time. To read
# one thread, start with post(id: "post_…") instead.
query Thread {
  user(handle: "ada") {
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
};

const liveNews = {
  query: `# Live: new posts in your news, once you are signed in.
# Run it, then post from a second window, as yourself or
# as somebody you follow.
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
};

const liveComments = {
  query: `# Live: new comments on one post. Put the post's id into
# the variables below, run it, then comment on the post
# from a second window.
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
  variables: { postId: 'post_…' },
};

const signUp = {
  query: `# Makes an account. Sign in with it in the bar above, then
# try the other tabs.
mutation SignUp {
  signUp(
    input: {
      handle: "ada"
      name: "Ada Lovelace"
      password: "choose a long one"
    }
  ) {
    token
    viewer { user { id handle } }
    userErrors { code message path }
  }
}
`,
};

const examples = [publicWall, myNews, postSomething, thread, liveNews, liveComments];

// exampleTabs are GraphiQL's default tabs. An empty Plaza starts with signing up, a demo with something to see.
export function exampleTabs(isDemo) {
  return (isDemo ? [...examples, signUp] : [signUp, ...examples]).map(({ query, variables }) => ({
    query,
    variables: variables && JSON.stringify(variables, null, 2),
  }));
}
