import { Badge, Box, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Suspense } from 'react'
import { OneLine } from '../ui/cells.tsx'
import { Copy } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { SettingsRow } from '../ui/settings-row.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { PolicyEditor } from './lazy.ts'
import { type Agent, type AgentPolicy, type AgentRule, policiesQuery, signerQuery } from './queries.ts'

/** The current policy, its earlier versions, and the keys whose signatures proxies should trust. */
export function Versions({ agent }: { agent: Agent }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(policiesQuery(org.id, agent.id))
  const editing = useDialog<AgentRule[] | null>()
  const versions = query.data ?? []
  const button = (
    <Button variant="default" disabled={!query.data} onClick={() => editing.open(versions[0]?.rules ?? null)}>
      {versions.length === 0 ? 'Write a policy' : 'Edit the policy'}
    </Button>
  )
  return (
    <Section
      title="Policy"
      description="Signed with your key: no server can widen it. Open a version to see what it changed."
      actions={button}
    >
      <List
        label="Versions of the policy"
        query={query}
        rows={(policies) => policies}
        columns={columns}
        minWidth={640}
        rowId={({ version }) => String(version)}
        rowName={({ version }) => `version ${version}`}
        details={(policy) => (
          <Difference policy={policy} before={versions.find(({ version }) => version === policy.version - 1)} />
        )}
        action={(policy) => ({
          label: 'Edit this one',
          onClick: () => editing.open(policy.rules),
        })}
        empty={<Empty title="No policy yet">The agent may send no request until you publish a policy.</Empty>}
      />
      <Box mt="sm">
        <TrustAnchor signers={[...new Set(versions.map((one) => one.signerThumbprint))]} />
      </Box>
      <Suspense>
        {editing.show((onClose, rules) => (
          <PolicyEditor agent={agent} rules={rules} onClose={onClose} />
        ))}
      </Suspense>
    </Section>
  )
}

const columns: ListColumn<AgentPolicy>[] = [
  { header: 'Version', cell: ({ version }) => <OneLine text={String(version)} />, width: 90 },
  {
    header: 'Rules',
    cell: ({ rules, rolledBackFrom }) => (
      <OneLine
        text={rolledBackFrom === null ? `${rules.length}` : `${rules.length}, the same as version ${rolledBackFrom}`}
      />
    ),
  },
  { header: 'Published', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 140 },
  { header: 'Expires', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />, width: 140 },
]

const textOf = (rule: AgentRule) => JSON.stringify(rule)

/** Lists the rules that a version added, removed and kept. */
function Difference({ policy, before }: { policy: AgentPolicy; before: AgentPolicy | undefined }) {
  const [now, earlier] = [policy.rules.map(textOf), (before?.rules ?? []).map(textOf)]
  const rows = [
    ...earlier.filter((rule) => !now.includes(rule)).map((rule) => ({ mark: 'removed', color: 'red', rule })),
    ...now.map((rule) =>
      earlier.includes(rule) ? { mark: 'kept', color: 'gray', rule } : { mark: 'added', color: 'sea', rule },
    ),
  ]
  return (
    <Stack gap={6}>
      {rows.length === 0 && <Text size="sm">This version permits no request.</Text>}
      {rows.map(({ mark, color, rule }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a version do not change, and rules may stand in it twice.
        <Group key={at} gap="xs" wrap="nowrap" align="flex-start">
          <Badge color={color} variant="light" w={84} style={{ flexShrink: 0 }}>
            {mark}
          </Badge>
          <Code style={{ wordBreak: 'break-word' }}>{rule}</Code>
        </Group>
      ))}
    </Stack>
  )
}

/** The keys to pin in a proxy. The proxy accepts policies signed by these keys only. */
function TrustAnchor({ signers }: { signers: string[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data } = useQuery(signerQuery(org.id))
  const own = data?.signer?.thumbprint
  const all = [...new Set([...(own === undefined ? [] : [own]), ...signers])]
  return (
    <SettingsRow title="Trust anchors" action={null}>
      <Text size="sm" c="dimmed">
        List the keys that may sign policies in <Code>[policy] signers</Code> of each proxy. It refuses policies that
        another key signed.
      </Text>
      {all.map((thumbprint) => (
        <Group key={thumbprint} gap="xs" mt={4}>
          <Code style={{ wordBreak: 'break-all' }}>{thumbprint}</Code>
          <Copy text={thumbprint} label="Copy the thumbprint" />
          {thumbprint === own && <Badge variant="light">yours</Badge>}
        </Group>
      ))}
    </SettingsRow>
  )
}
