import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { waysQuery } from '../sign-in-ways.ts'

/** Says where invitations are on a server without SMTP, because nobody gets a mail there. */
export function NoMail() {
  const { data } = useQuery(waysQuery)
  if (data?.mail !== 'outbox') return null
  return (
    <Alert color="yellow" variant="light">
      This server sends no mail.{' '}
      {data.kind === 'external'
        ? 'Tell each person to sign in here, and to accept the invitation.'
        : 'Each invitation is a file in the folder “outbox” of the server’s data directory. Ask the operator for its link, and pass it on.'}
    </Alert>
  )
}
