import { Group, SegmentedControl, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { requirePolicySigner } from '../trust/checks.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { type Agent, type AgentRule, agentsQuery, policiesQuery } from './queries.ts'
import { RulesForm } from './rules-form.tsx'
import { useSuggestions } from './use-suggestions.ts'

const lifetimes = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '89', label: '89 days' },
]
const daySeconds = 86_400

const example: AgentRule[] = [{ host: 'api.example.com', methods: ['GET'], paths: ['/v1/**'], allow: ['API_KEY'] }]

/**
 * Edits the rules in a form or as text. They are checked while the person types, can be tried with a request, and are
 * signed with the person's key.
 */
export function PolicyEditor({
  agent,
  rules,
  onClose,
}: {
  agent: Agent
  rules: AgentRule[] | null
  onClose: () => void
}) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [text, setText] = useState(JSON.stringify(rules ?? example, null, 2))
  const [days, setDays] = useState<string>('30')
  const { data: read, isPlaceholderData: isOld } = useSimulation(text, null)
  const publish = async () => {
    if (!read || !('rules' in read)) return
    await requirePolicySigner(org.id)
    const issuedAt = Math.floor(Date.now() / 1000)
    const bundle = await keyring.call('signPolicy', {
      ...{ org: org.id, agent: agent.id, agentSlug: agent.slug, policyVersion: agent.policyVersion + 1 },
      ...{ issuedAt, expiresAt: issuedAt + Number(days) * daySeconds, rules: read.rules },
    })
    const { policy } = await api.agents.publish({ params: { orgId: org.id, agentId: agent.id }, body: { bundle } })
    showToast(`Published version ${policy.version} of the policy.`)
  }
  const problem = read && 'problem' in read ? read.problem : null
  return (
    <FormDialog
      title={`Edit the policy of ${agent.name}`}
      submit="Sign and publish"
      size="lg"
      onClose={onClose}
      onSubmit={publish}
      stale={[agentsQuery(org.id), policiesQuery(org.id, agent.id)]}
      // Signing waits for the check of the text on screen, so that the rules of an older text are never signed.
      disabled={!read || isOld || problem !== null}
    >
      <Rules {...{ agent, text, problem }} onChange={setText} />
      <Simulator text={text} />
      <Select
        label="Valid for"
        description="After this time, every request is refused until you sign another version."
        data={lifetimes}
        value={days}
        allowDeselect={false}
        onChange={(value) => setDays(value ?? '30')}
      />
    </FormDialog>
  )
}

/** The rules as a form or as their source, which is the text that is checked and signed. */
function Rules(props: { agent: Agent; text: string; problem: string | null; onChange: (text: string) => void }) {
  const { agent, text, problem, onChange } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const rules = rulesIn(text)
  const [view, setView] = useState('Form')
  // A text that is no list of rules can be edited only as text, until the person chooses the form again.
  const shown = rules === null ? 'Source' : view
  const suggestions = useSuggestions(org.id, agent, rules ?? [])
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <span className="help">
          The first rule that matches a request decides. A request that matches no rule is refused.
        </span>
        <SegmentedControl aria-label="View" data={['Form', 'Source']} value={shown} onChange={setView} />
      </Group>
      {shown === 'Form' && rules !== null ? (
        <>
          <RulesForm {...{ rules, suggestions }} onChange={(changed) => onChange(JSON.stringify(changed, null, 2))} />
          {problem !== null && (
            <Text size="sm" c="red" role="alert">
              {problem}
            </Text>
          )}
        </>
      ) : (
        <Textarea
          label="Rules"
          description="Empty methods or paths match everything. An empty allow list matches nothing."
          classNames={{ input: 'mono' }}
          autosize
          minRows={8}
          maxRows={18}
          spellCheck={false}
          value={text}
          error={problem}
          onChange={(event) => {
            setView('Source')
            onChange(event.currentTarget.value)
          }}
        />
      )}
    </Stack>
  )
}

/** Returns the rules of a text that has the fields of rules; their content may still be wrong. Else returns null. */
function rulesIn(text: string): AgentRule[] | null {
  try {
    const read: unknown = JSON.parse(text)
    return Array.isArray(read) && read.every(isRule) ? read : null
  } catch {
    return null
  }
}

const isTexts = (given: unknown) => Array.isArray(given) && given.every((one) => typeof one === 'string')

/** Whether the form shows every field of the rule, so that editing another one loses nothing. */
function isRule(given: unknown): given is AgentRule {
  if (typeof given !== 'object' || given === null) return false
  const { host, methods, paths, allow, label, ...more } = given as Record<string, unknown>
  const isLabel = label === undefined || typeof label === 'string'
  return typeof host === 'string' && [methods, paths, allow].every(isTexts) && isLabel && Object.keys(more).length === 0
}

interface Asked {
  method: string
  host: string
  path: string
  secret?: string
}

/**
 * Asks the worker to check a text, and to decide a request by it. The last answer stays visible until the next one
 * arrives.
 */
const useSimulation = (text: string, operation: Asked | null) =>
  useQuery({
    queryKey: ['policy-simulation', text, operation],
    queryFn: () => keyring.callLocked('simulatePolicy', { text, operation }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  })

const meanings: Record<string, string> = {
  allow: 'allowed',
  no_rule: 'refused: no rule has this host',
  path_not_allowed: 'refused: no rule of this host permits the path',
  method_not_allowed: 'refused: the rule does not permit the method',
  secret_not_allowed: 'refused: the rule does not permit the secret',
}

/** Shows how the policy would decide a request. The proxies use the same function. */
export function Simulator({ text }: { text: string }) {
  const [method, setMethod] = useState('GET')
  const [url, setUrl] = useState('')
  const [secret, setSecret] = useState('')
  const parsed = URL.parse(/^https?:/.test(url) ? url : `https://${url}`)
  const operation =
    url === '' || parsed === null
      ? null
      : {
          ...{ method, host: parsed.hostname, path: `${parsed.pathname}${parsed.search}` },
          ...(secret === '' ? {} : { secret }),
        }
  const { data } = useSimulation(text, operation)
  const decision = data && 'decision' in data ? data.decision : null
  return (
    <Stack gap={4}>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput label="Method" w={90} value={method} onChange={(event) => setMethod(event.currentTarget.value)} />
        <TextInput
          label="Try an address"
          placeholder="https://api.example.com/v1/items"
          flex={1}
          autoComplete="off"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <TextInput
          label="Secret"
          placeholder="API_KEY"
          w={150}
          autoComplete="off"
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
      </Group>
      <Text size="sm" role="status" c={decision === null ? 'dimmed' : decision.decision === 'allow' ? 'sea' : 'red'}>
        {decision === null ? 'Nothing is sent: the answer appears here.' : sayDecision(decision)}
      </Text>
    </Stack>
  )
}

const sayDecision = ({ decision, ruleIndex }: { decision: string; ruleIndex: number | null }) =>
  ruleIndex === null ? `${meanings[decision]}.` : `Rule ${ruleIndex}: ${meanings[decision]}.`
