import { ActionIcon, Button, Checkbox, Group, Stack, TagsInput, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconPlus, IconX } from '../ui/icons.ts'
import type { AgentRule } from './queries.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const empty: AgentRule = { host: '', methods: [], paths: [], allow: [] }

/** The suggestions of a rule’s fields: names of secrets, hosts and paths. */
export interface Suggestions {
  secrets: string[]
  hosts: string[]
  paths: string[]
}

interface Props {
  rules: AgentRule[]
  onChange: (rules: AgentRule[]) => void
  suggestions: Suggestions
}

/** Edits the rules of a policy one by one. The first rule that fits a request decides. */
export function RulesForm({ rules, onChange, suggestions }: Props) {
  const set = (index: number, rule: AgentRule) => onChange(rules.with(index, rule))
  return (
    <Stack gap="sm">
      <ol className="rules" aria-label="Rules">
        {rules.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule has no identity but its place
          <li key={index}>
            <RuleHead index={index} rules={rules} onChange={onChange} />
            <RuleFields rule={rule} suggestions={suggestions} onChange={(changed) => set(index, changed)} />
          </li>
        ))}
      </ol>
      <datalist id="policy-hosts">
        {suggestions.hosts.map((host) => (
          <option key={host} value={host} />
        ))}
      </datalist>
      <Group>
        <Button variant="default" leftSection={<IconPlus size={15} />} onClick={() => onChange([...rules, empty])}>
          Add a rule
        </Button>
      </Group>
    </Stack>
  )
}

function RuleHead({ index, rules, onChange }: { index: number } & Pick<Props, 'rules' | 'onChange'>) {
  const { label, host } = rules[index]!
  const move = (to: number) => {
    const moved = rules.toSpliced(index, 1)
    onChange(moved.toSpliced(to, 0, rules[index]!))
  }
  const name = `rule ${index + 1}`
  return (
    <Group gap={4} wrap="nowrap" justify="space-between">
      <strong>
        {index + 1} {label ?? host}
      </strong>
      <Group gap={0} wrap="nowrap">
        <ActionIcon aria-label={`Move ${name} up`} disabled={index === 0} onClick={() => move(index - 1)}>
          <IconChevronUp size={16} />
        </ActionIcon>
        <ActionIcon
          aria-label={`Move ${name} down`}
          disabled={index === rules.length - 1}
          onClick={() => move(index + 1)}
        >
          <IconChevronDown size={16} />
        </ActionIcon>
        <ActionIcon aria-label={`Remove ${name}`} onClick={() => onChange(rules.toSpliced(index, 1))}>
          <IconX size={16} />
        </ActionIcon>
      </Group>
    </Group>
  )
}

interface FieldsProps {
  rule: AgentRule
  suggestions: Suggestions
  onChange: (rule: AgentRule) => void
}

function RuleFields({ rule, suggestions, onChange }: FieldsProps) {
  const { label: _, ...unlabelled } = rule
  const setLabel = (label: string) => onChange(label === '' ? unlabelled : { ...rule, label })
  return (
    <Stack gap="sm">
      <Group grow align="flex-start" gap="sm">
        <TextInput
          label="Host"
          placeholder="api.example.com"
          list="policy-hosts"
          autoComplete="off"
          value={rule.host}
          onChange={(event) => onChange({ ...rule, host: event.currentTarget.value })}
        />
        <TextInput
          label="Label (optional)"
          autoComplete="off"
          value={rule.label ?? ''}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
      </Group>
      <Checkbox.Group
        label="Methods"
        description="Tick none to permit every method."
        value={rule.methods}
        onChange={(chosen) => onChange({ ...rule, methods: chosen })}
      >
        <Group gap="lg" mt={4}>
          {[...new Set([...methods, ...rule.methods])].map((method) => (
            <Checkbox key={method} value={method} label={<span className="mono">{method}</span>} />
          ))}
        </Group>
      </Checkbox.Group>
      <TagsInput
        label="Paths"
        description="Leave this empty to permit every path. * stands for one segment, ** for any number of segments."
        data={suggestions.paths}
        value={rule.paths}
        acceptValueOnBlur
        onChange={(paths) => onChange({ ...rule, paths })}
      />
      <TagsInput
        label="Secrets that it may use"
        description="Choose none to permit no secret."
        data={suggestions.secrets}
        value={rule.allow}
        acceptValueOnBlur
        onChange={(allow) => onChange({ ...rule, allow })}
      />
    </Stack>
  )
}
