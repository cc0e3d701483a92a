import { Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { canSave, saveArchive } from './save.ts'

const exportKeyQuery = queryOptions({
  queryKey: ['export-key'],
  queryFn: ({ signal }) => api.auditProof.exportKey({}, { signal }),
  // A server without a signing key will not get one soon, so a retry is useless.
  retry: false,
})

/** Explains what an archive of the organization contains, how to make one, and how to check it. */
export function Export() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: key, isError: isUnsigned } = useQuery(exportKeyQuery)
  const [path, setPath] = useState(`${org.slug}.json`)
  return (
    <>
      <Contents />
      <Section
        title="Make one"
        description="An archive shows the state of one moment, even if people change secrets meanwhile. The audit log records the export."
      >
        <Stack gap="sm">
          <Save suggestedName={`${org.slug}.json`} onSaved={setPath} />
          <CommandLine command={`skerry org export ${quoted(path)} --org ${org.slug}`} />
        </Stack>
      </Section>
      <Section
        title="Check it"
        description={
          isUnsigned
            ? 'This server has no key, so it cannot sign the archive. Keep the archive where nobody can change it.'
            : 'Keep this key with the archive. The check works without a server, and finds every changed byte.'
        }
      >
        {(key || isUnsigned) && (
          <CommandLine
            command={`skerry org export verify ${quoted(path)} ${key ? `--key ${key.publicKey}` : '--unsigned'}`}
          />
        )}
      </Section>
    </>
  )
}

/** Quotes a file name for a shell, because people choose it. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`)

function Contents() {
  return (
    <Section
      title="Contents of an archive"
      description="One file with the data of this organization. Values stay encrypted: only the keys of people and tokens can decrypt them."
    >
      <Paper>
        <List size="sm" spacing={4}>
          <List.Item>
            Names and structure: applications, environments, groups, members, tokens, agents and settings
          </List.Item>
          <List.Item>
            Secrets in all their versions, as ciphertext, with the wrapped keys of everyone who can read them
          </List.Item>
          <List.Item>Managed keys, shares of the recovery key, and proposals, all as they are stored</List.Item>
          <List.Item>The audit log with the proof that it is complete</List.Item>
        </List>
        <Text size="sm" c="dimmed" mt="sm">
          An archive leaves out hashes of tokens and sessions, credentials of lease targets and sync connections, sealed
          private keys of other people, and the credential vault. An operator restores the archive with{' '}
          <span className="mono">skerry-server org restore</span>.
        </Text>
      </Paper>
    </Section>
  )
}

function Save({ suggestedName, onSaved }: { suggestedName: string; onSaved: (name: string) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [bytes, setBytes] = useState(0)
  const [saved, setSaved] = useState<string | null>(null)
  const save = useAction(async () => {
    setBytes(0)
    setSaved(null)
    const name = await saveArchive({ orgId: org.id, suggestedName }, setBytes)
    if (name === null) return
    setSaved(name)
    onSaved(name)
  })
  if (!canSave())
    return (
      <Text size="sm" c="dimmed">
        This browser cannot save a download directly to a file, and an archive may be larger than its memory. Use the
        command.
      </Text>
    )
  return (
    <>
      <Group gap="sm">
        <Button onClick={() => save.run()} loading={save.pending}>
          Save an archive…
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {save.pending && bytes > 0 && `${megabytes(bytes)} so far`}
          {saved !== null && `${saved} is written: ${megabytes(bytes)}`}
        </Text>
      </Group>
      <ProblemAlert error={save.error} />
    </>
  )
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
