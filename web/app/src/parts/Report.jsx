// Reporting to the moderators what breaks the rules.
import { useState } from 'preact/hooks';
import { Report as Mutation } from '../api/operations.js';
import { DialogButton, Outcome } from './basics.jsx';
import { Choice, Field, Form } from './Form.jsx';

export const reasons = {
  SPAM: { label: 'Spam', hint: 'Advertising, deception, or the same thing again and again.' },
  ABUSE: { label: 'Abuse', hint: 'Insults, harassment, or hatred of a group of people.' },
  VIOLENCE: { label: 'Violence', hint: 'Violence, or calls for it.' },
  SEXUAL: { label: 'Sexual content', hint: 'Sexual pictures or texts.' },
  ILLEGAL: { label: 'Illegal', hint: 'Something that the law forbids.' },
  OTHER: { label: 'Something else', hint: 'Please explain below.' },
};

// Report is a button that asks for a reason, and reports a post, a comment or a person.
export const Report = ({ subjectId, question }) => (
  <DialogButton class="quiet" label="Report" title={question}>{() => <ReportForm subjectId={subjectId} />}</DialogButton>
);

function ReportForm({ subjectId }) {
  const [reason, setReason] = useState(null);
  const [isSent, setIsSent] = useState(false);
  if (isSent) return <Outcome><p>Thank you. The moderators will review it.</p></Outcome>;
  return (
    <Form mutation={Mutation} submit="Send report" complete={(input) => ({ ...input, subjectId })} then={() => setIsSent(true)}>
      <Choice legend="What is wrong?" name="reason" options={reasons} chosen={reason} onChoose={setReason}>
        <p class="hint">{reasons[reason]?.hint}</p>
      </Choice>
      <Field label="What should the moderators know? (optional)" name="text" as="textarea" rows="3" />
      <p class="hint">Only moderators read your report, and they don't see who sent it. The person you report is not notified.</p>
    </Form>
  );
}
