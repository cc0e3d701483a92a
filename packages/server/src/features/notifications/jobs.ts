import { job } from '../../jobs/job.ts'
import { type Mail, ordinaryMailsAtOnce } from '../../jobs/mail.ts'
import { mailWithLink } from '../sign-in/link-mail.ts'

/** With `signsIn`, a link goes along that signs its recipient in, where Skerry itself signs people in. */
interface Letter extends Mail {
  signsIn?: boolean
}

/** Tried for about half a day. */
export const mail = job<Letter>(
  'mail',
  { retry: { limit: 12 }, concurrency: ordinaryMailsAtOnce },
  (context, { signsIn, ...letter }) => (signsIn ? mailWithLink(context, letter) : context.mailer.send(letter)),
)

export const jobs = [mail]
