import { ask } from './api.js';
import { subjectQuery } from './operations.js';

// newHandle returns an unused handle: each load of the page makes another one.
function newHandle() {
  return 'visitor_' + crypto.getRandomValues(new Uint32Array(1))[0].toString(36);
}

// findSubject returns the subject of the example tabs: { newHandle, handle, postId }. Its ids belong to existing objects; without any post,
// postId is undefined. demo is the server's configuration of the demo, or null.
export async function findSubject(demo) {
  const subject = { newHandle: newHandle() };
  const data = await ask(subjectQuery, { ids: demo?.threads ?? [], handle: demo?.handle ?? subject.newHandle });
  subject.handle = demo?.handle ?? data?.viewer?.user.handle ?? subject.newHandle;
  const posts = [data?.nodes, data?.user?.wall?.nodes, data?.viewer?.wall?.nodes, data?.viewer?.news?.nodes].flat();
  subject.postId = posts.find(Boolean)?.id;
  return subject;
}
