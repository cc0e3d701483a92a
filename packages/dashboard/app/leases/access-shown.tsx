import { Code, Group, Stack, Text } from '@mantine/core'
import { variablesOf } from '@skerry/sdk/internal/lease-variables'
import { ShownOnce } from '../tokens/shown-once.tsx'
import { Copy } from '../ui/copy.tsx'
import { Countdown } from '../ui/countdown.tsx'
import type { MadeAccess } from './get-access.tsx'

/** The parts of a lease that are shown once: the main text, and what else is needed to use it. */
interface Parts {
  what: string
  text: string
  more: { label: string; text: string }[]
}

/** Shows a new lease with its credential and its lifetime. It is null if the keyring has locked meanwhile. */
export function AccessShown({ access, onClose }: { access: MadeAccess | null; onClose: () => void }) {
  if (!access)
    return (
      <ShownOnce title="Your access" what="credential" token={null} onClose={onClose}>
        {null}
      </ShownOnce>
    )
  const { made, target } = access
  const { what, text, more } = partsOf(access)
  return (
    <ShownOnce title={`Your access to ${target.name}`} what={what} token={text} onClose={onClose}>
      <Stack gap="sm">
        {more.map((part) => (
          <Part key={part.label} {...part} />
        ))}
        <Text size="sm">
          It ends in <Countdown to={made.lease.expiresAt} />. If you finish earlier, revoke it in the list.
        </Text>
      </Stack>
    </ShownOnce>
  )
}

function Part({ label, text }: { label: string; text: string }) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Code block flex={1} style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }} data-secret tabIndex={0}>
          {text}
        </Code>
        <Copy text={text} label={`Copy: ${label}`} />
      </Group>
    </Stack>
  )
}

function partsOf({ made, target }: MadeAccess): Parts {
  if (made.provider === 'ssh') {
    const command = `ssh -i lease -o CertificateFile=lease-cert.pub ${made.principals[0] ?? 'user'}@host`
    return {
      what: 'private key',
      text: made.key.privateKey,
      more: [
        { label: 'Certificate', text: made.certificate },
        { label: 'With the key in a file lease, and the certificate in lease-cert.pub', text: command },
      ],
    }
  }
  const { values, files } = variablesOf(made, target)
  const url = values.get('DATABASE_URL')
  const variables = [...values]
    .filter(([name]) => name !== 'DATABASE_URL')
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
  const certificates = [...files].map(([name, text]) => ({ label: `In a file that ${name} names`, text }))
  if (url === undefined) return { what: 'credential', text: variables, more: certificates }
  return { what: 'connection string', text: url, more: [{ label: 'As variables', text: variables }, ...certificates] }
}
