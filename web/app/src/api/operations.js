// All that the app asks of the API. Lists have 20 entries a page: a page of another size would be
// another page to the cache.
import { gql } from '@urql/core';

const errors = 'userErrors { code message path }';
const pageInfo = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

const person = gql`fragment Person on User { id handle name avatarUrl }`;

const said = gql`
  fragment Said on Comment {
    id slug path depth text createdAt editedAt isDeleted isHidden repliesCount viewerCanReply viewerCanEdit viewerCanDelete
    author { ...Person }
    parent { id slug author { id handle } }
    entities { start end ... on MentionEntity { user { id handle } } ... on TagEntity { tag } }
  }
  ${person}`;

const shown = gql`
  fragment Shown on Post {
    __typename id text createdAt editedAt commentCount commentOrder viewerReaction viewerCanComment viewerCanEdit viewerCanDelete
    author { ...Person }
    wallOwner { ...Person }
    audience { kind circles { id name } }
    replyPolicy { kind circles { id name } }
    reactionCounts { kind count }
    entities { start end ... on MentionEntity { user { id handle } } ... on TagEntity { tag } }
    latestComments { ...Said }
    ... on PhotoPost { url alt width height }
    ... on LinkPost { url title }
    ... on CheckinPost { place latitude longitude photo { url alt width height } }
    ... on PollPost { votesCount viewerVote viewerCanVote isClosed closesAt options { id index text votesCount } }
  }
  ${person} ${said}`;

const noticed = gql`
  fragment Noticed on Notification {
    id kind actorsCount isRead updatedAt
    actors { ...Person }
    post { id text wallOwner { id handle } }
    comment { id slug text }
  }
  ${person}`;

const circled = gql`fragment Circled on Circle { id name isDefault membersCount }`;

// What a follow, or a change of circles, changes.
const followed = gql`fragment Followed on User { id followersCount viewerFollows viewerCircles { id name } }`;
const followers = 'viewer { id user { id followersCount followingCount } }';

const posts = `edges { cursor node { ...Shown } } ${pageInfo}`;
const people = `edges { cursor node { ...Person } } ${pageInfo}`;

export const Me = gql`query Me { viewer { id wallPolicy rights user { ...Person bio } } } ${person}`;
export const Registration = gql`query Registration { registration identityProviders { issuer clientId } }`;
const emails = 'id email unconfirmedEmail';
const sessions = 'id sessions { id createdAt lastUsedAt expiresAt isCurrent }';
const token = 'id name scopes createdAt expiresAt lastUsedAt';
const tokens = `id accessTokens { ${token} }`;
export const Sessions = gql`query Sessions { viewer { ${sessions} } }`;
export const AccessTokens = gql`query AccessTokens { viewer { ${tokens} rights } }`;
export const Account = gql`query Account { viewer { ${emails} hasPassword } }`;
const ad = 'id headline body imageUrl clickUrl impressionToken advertiser why';
export const News = gql`
  query News($after: String) {
    viewer { id news(first: 20, after: $after) { edges { cursor node { ...Shown } sponsored { ${ad} } } ${pageInfo} } }
  } ${shown}`;
export const Incoming = gql`query Incoming($after: String) { viewer { id incoming(first: 20, after: $after) { ${posts} } } } ${shown}`;
export const OwnWall = gql`
  query OwnWall($view: WallView!, $after: String) { viewer { id wall(view: $view, first: 20, after: $after) { ${posts} } } } ${shown}`;
export const Wall = gql`query Wall($handle: String!, $after: String) { user(handle: $handle) { id wall(first: 20, after: $after) { ${posts} } } } ${shown}`;
export const Profile = gql`
  query Profile($handle: String!) {
    user(handle: $handle) {
      ...Person ...Followed bio createdAt followingCount isFollowingViewer viewerIsMuting viewerCanPostOnWall
    }
  } ${person} ${followed}`;
export const Followers = gql`
  query Followers($handle: String!, $after: String) { user(handle: $handle) { id followers(first: 20, after: $after) { ${people} } } } ${person}`;
export const Following = gql`
  query Following($handle: String!, $after: String) { user(handle: $handle) { id following(first: 20, after: $after) { ${people} } } } ${person}`;
export const PeopleByName = gql`
  query PeopleByName($startsWith: String!, $after: String) { usersByName(startsWith: $startsWith, first: 20, after: $after) { ${people} } } ${person}`;
export const SuggestedUsers = gql`
  query SuggestedUsers { viewer { id suggestedUsers(count: 5) { user { ...Person ...Followed } followedBy { id name } } } } ${person} ${followed}`;
export const Post = gql`query Post($id: ID!) { post(id: $id) { ...Shown viewerIsMutingThread } } ${shown}`;
export const History = gql`query History($id: ID!) { post(id: $id) { id history { text url title place replacedAt } } }`;
export const Thread = gql`
  query Thread($id: ID!, $order: CommentOrder!, $after: String) {
    post(id: $id) { id comments(order: $order, first: 20, after: $after) { edges { cursor node { ...Said } } ${pageInfo} } }
  } ${said}`;
export const Discussion = gql`
  query Discussion($id: ID!, $slug: String!, $after: String) {
    post(id: $id) {
      id
      comment(slug: $slug) {
        ...Said
        ancestors { ...Said }
        discussion(first: 20, after: $after) { edges { cursor node { ...Said } } ${pageInfo} }
      }
    }
  } ${said}`;
export const Circles = gql`query Circles($after: String) { viewer { id circles(first: 100, after: $after) { edges { cursor node { ...Circled } } ${pageInfo} } } } ${circled}`;
export const Members = gql`
  query Members($id: ID!, $after: String) { node(id: $id) { id ... on Circle { ...Circled members(first: 20, after: $after) { ${people} } } } }
  ${circled} ${person}`;
export const Notifications = gql`
  query Notifications($after: String) {
    viewer { id unreadNotificationsCount notifications(first: 20, after: $after) { edges { cursor node { ...Noticed } } ${pageInfo} } }
  } ${noticed}`;
export const NotificationSettings = gql`query NotificationSettings { viewer { id notificationSettings { kind enabled } } }`;
export const Blocked = gql`query Blocked($after: String) { viewer { id blockedUsers(first: 20, after: $after) { ${people} } } } ${person}`;
export const Muted = gql`query Muted($after: String) { viewer { id mutedUsers(first: 20, after: $after) { ${people} } } } ${person}`;

// What moderators see: cases, and, with the right ADMIN, all decisions.
const reported = gql`fragment Reported on ReportedUser { id handle name bio avatarUrl standing { kind until reason } }`;
const judged = gql`
  fragment Judged on ModerationCase {
    id subjectKind state isHidden reportsCount firstReportedAt lastReportedAt
    author { ...Reported }
    content { postId text details urls createdAt editedAt }
    reasons { reason count }
    latestReports { reason text createdAt }
  }
  ${reported}`;
const cases = `edges { cursor node { ...Judged } } ${pageInfo}`;
export const OpenCases = gql`query OpenCases($after: String) { moderation { cases(state: OPEN, first: 20, after: $after) { ${cases} } } } ${judged}`;
// The list of decided cases is read from its end, where the latest are: after is a place before.
export const DecidedCases = gql`
  query DecidedCases($after: String) { moderation { cases(state: DECIDED, last: 20, before: $after) { ${cases} } } } ${judged}`;
export const AuditLog = gql`
  query AuditLog($after: String) {
    moderation {
      auditLog(first: 20, after: $after) {
        edges { cursor node { id decision subjectKind until reason isByOperator createdAt author { ...Reported } moderator { ...Reported } } }
        ${pageInfo}
      }
    }
  } ${reported}`;
export const DecideCase = gql`mutation DecideCase($input: DecideCaseInput!) { decideCase(input: $input) { case { ...Judged } ${errors} } } ${judged}`;

export const SignUp = gql`mutation SignUp($input: SignUpInput!) { signUp(input: $input) { token ${errors} } }`;
export const SignIn = gql`mutation SignIn($input: SignInInput!) { signIn(input: $input) { token ${errors} } }`;
export const SignInWithIdToken = gql`mutation SignInWithIdToken($input: SignInWithIdTokenInput!) { signInWithIdToken(input: $input) { token ${errors} } }`;
export const RequestPasswordReset = gql`mutation RequestPasswordReset($input: RequestPasswordResetInput!) { requestPasswordReset(input: $input) { ${errors} } }`;
export const ResetPassword = gql`mutation ResetPassword($input: ResetPasswordInput!) { resetPassword(input: $input) { handle ${errors} } }`;
export const SetEmail = gql`mutation SetEmail($input: SetEmailInput!) { setEmail(input: $input) { viewer { ${emails} } ${errors} } }`;
export const ConfirmEmail = gql`mutation ConfirmEmail($input: ConfirmEmailInput!) { confirmEmail(input: $input) { email ${errors} } }`;
export const ChangePassword = gql`mutation ChangePassword($input: ChangePasswordInput!) { changePassword(input: $input) { viewer { ${sessions} ${tokens} } ${errors} } }`;
export const RevokeSession = gql`mutation RevokeSession($input: RevokeSessionInput!) { revokeSession(input: $input) { viewer { ${sessions} } ${errors} } }`;
export const RevokeOtherSessions = gql`mutation RevokeOtherSessions { revokeOtherSessions { viewer { ${sessions} } ${errors} } }`;
export const CreateAccessToken = gql`
  mutation CreateAccessToken($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { token accessToken { ${token} } ${errors} } }`;
export const RevokeAccessToken = gql`
  mutation RevokeAccessToken($input: RevokeAccessTokenInput!) { revokeAccessToken(input: $input) { viewer { ${tokens} } ${errors} } }`;
export const DeactivateAccount = gql`
  mutation DeactivateAccount($input: DeactivateAccountInput!) { deactivateAccount(input: $input) { deactivatedUserId ${errors} } }`;
export const DeleteAccount = gql`mutation DeleteAccount($input: DeleteAccountInput!) { deleteAccount(input: $input) { deletedUserId ${errors} } }`;
export const UpdateProfile = gql`
  mutation UpdateProfile($input: UpdateProfileInput!) { updateProfile(input: $input) { user { ...Person bio } ${errors} } } ${person}`;

export const CreatePost = gql`
  mutation CreatePost($input: CreatePostInput!) {
    createPost(input: $input) {
      post { ...Shown } newsEdge { cursor node { id } } wallEdge { cursor node { id } } ${errors}
    }
  } ${shown}`;
export const EditPost = gql`mutation EditPost($input: EditPostInput!) { editPost(input: $input) { post { ...Shown } ${errors} } } ${shown}`;
export const SetPostAudience = gql`
  mutation SetPostAudience($input: SetPostAudienceInput!) { setPostAudience(input: $input) { post { ...Shown } ${errors} } } ${shown}`;
export const SetReplyPolicy = gql`
  mutation SetReplyPolicy($input: SetReplyPolicyInput!) { setReplyPolicy(input: $input) { post { ...Shown } ${errors} } } ${shown}`;
export const SetCommentOrder = gql`
  mutation SetCommentOrder($input: SetCommentOrderInput!) { setCommentOrder(input: $input) { post { id commentOrder } ${errors} } }`;
// Previews of a muted thread are empty.
const muted = 'post { id viewerIsMutingThread latestComments { ...Said } }';
export const MuteThread = gql`mutation MuteThread($input: MuteThreadInput!) { muteThread(input: $input) { ${muted} ${errors} } } ${said}`;
export const UnmuteThread = gql`mutation UnmuteThread($input: UnmuteThreadInput!) { unmuteThread(input: $input) { ${muted} ${errors} } } ${said}`;
export const DeletePost = gql`mutation DeletePost($input: DeletePostInput!) { deletePost(input: $input) { deletedPostId ${errors} } }`;
const reacted = `post { id viewerReaction reactionCounts { kind count } }`;
export const AddReaction = gql`mutation AddReaction($input: AddReactionInput!) { addReaction(input: $input) { ${reacted} ${errors} } }`;
export const RemoveReaction = gql`mutation RemoveReaction($input: RemoveReactionInput!) { removeReaction(input: $input) { ${reacted} ${errors} } }`;
export const VotePoll = gql`mutation VotePoll($input: VotePollInput!) { votePoll(input: $input) { post { ...Shown } ${errors} } } ${shown}`;

// A new comment as an entry of its thread in each order, and what else it changes.
const added = `
  oldest: edge(order: OLDEST) { cursor node { id path } }
  newest: edge(order: NEWEST) { cursor node { id path } }
  threaded: edge(order: THREADED) { cursor node { id path } }
  comment { ...Said parent { id repliesCount } post { id commentCount latestComments { ...Said } } }`;
export const AddComment = gql`mutation AddComment($input: AddCommentInput!) { addComment(input: $input) { ${added} ${errors} } } ${said}`;
export const EditComment = gql`mutation EditComment($input: EditCommentInput!) { editComment(input: $input) { comment { ...Said } ${errors} } } ${said}`;
export const DeleteComment = gql`
  mutation DeleteComment($input: DeleteCommentInput!) {
    deleteComment(input: $input) {
      removedCommentIds comment { ...Said } parent { id repliesCount } post { id commentCount latestComments { ...Said } } ${errors}
    }
  } ${said}`;

export const FollowUser = gql`
  mutation FollowUser($input: FollowUserInput!) { followUser(input: $input) { user { ...Followed } ${followers} ${errors} } } ${followed}`;
export const UnfollowUser = gql`
  mutation UnfollowUser($input: UnfollowUserInput!) { unfollowUser(input: $input) { user { ...Followed } ${followers} ${errors} } } ${followed}`;
export const AddToCircle = gql`
  mutation AddToCircle($input: AddToCircleInput!) {
    addToCircle(input: $input) { circle { ...Circled } user { ...Followed } ${followers} ${errors} }
  } ${circled} ${followed}`;
export const RemoveFromCircle = gql`
  mutation RemoveFromCircle($input: RemoveFromCircleInput!) {
    removeFromCircle(input: $input) { circle { ...Circled } user { ...Followed } ${followers} ${errors} }
  } ${circled} ${followed}`;
export const CreateCircle = gql`
  mutation CreateCircle($input: CreateCircleInput!) { createCircle(input: $input) { edge { cursor node { ...Circled } } ${errors} } } ${circled}`;
export const RenameCircle = gql`mutation RenameCircle($input: RenameCircleInput!) { renameCircle(input: $input) { circle { ...Circled } ${errors} } } ${circled}`;
export const DeleteCircle = gql`mutation DeleteCircle($input: DeleteCircleInput!) { deleteCircle(input: $input) { deletedCircleId ${errors} } }`;
export const MuteUser = gql`mutation MuteUser($input: MuteUserInput!) { muteUser(input: $input) { user { id viewerIsMuting } ${errors} } }`;
export const UnmuteUser = gql`mutation UnmuteUser($input: UnmuteUserInput!) { unmuteUser(input: $input) { user { id viewerIsMuting } ${errors} } }`;
export const BlockUser = gql`mutation BlockUser($input: BlockUserInput!) { blockUser(input: $input) { user { id } ${errors} } }`;
export const UnblockUser = gql`mutation UnblockUser($input: UnblockUserInput!) { unblockUser(input: $input) { user { id } ${errors} } }`;
export const SetNotificationSetting = gql`
  mutation SetNotificationSetting($input: SetNotificationSettingInput!) {
    setNotificationSetting(input: $input) { viewer { id notificationSettings { kind enabled } } ${errors} }
  }`;
export const RecordAdImpression = gql`
  mutation RecordAdImpression($input: RecordAdImpressionInput!) { recordAdImpression(input: $input) { recorded ${errors} } }`;
export const Report = gql`mutation Report($input: ReportInput!) { report(input: $input) { reportedId ${errors} } }`;
export const MarkNotificationsRead = gql`
  mutation MarkNotificationsRead($input: MarkNotificationsReadInput!) {
    markNotificationsRead(input: $input) { viewer { id unreadNotificationsCount } ${errors} }
  }`;

const item = 'cursor event post { ...Shown }';
export const NewsItemAdded = gql`subscription NewsItemAdded($after: String) { newsItemAdded(after: $after) { ${item} } } ${shown}`;
export const IncomingAdded = gql`subscription IncomingAdded($after: String) { incomingAdded(after: $after) { ${item} } } ${shown}`;
export const WallPostAdded = gql`
  subscription WallPostAdded($userId: ID!, $after: String) { wallPostAdded(userId: $userId, after: $after) { ${item} } } ${shown}`;
export const PostChanged = gql`
  subscription PostChanged($ids: [ID!]!) { postChanged(postIds: $ids, current: true) { event postId post { ...Shown } } } ${shown}`;
export const CommentAdded = gql`
  subscription CommentAdded($id: ID!, $after: String) { commentAdded(postId: $id, after: $after) { cursor event ${added} } } ${said}`;
export const CommentChanged = gql`
  subscription CommentChanged($id: ID!) { commentChanged(postId: $id) { event commentId comment { ...Said } } } ${said}`;
export const NotificationAdded = gql`
  subscription NotificationAdded($after: String) {
    notificationAdded(after: $after) {
      cursor event notificationId isInFront notification { ...Noticed } viewer { id unreadNotificationsCount }
    }
  } ${noticed}`;
