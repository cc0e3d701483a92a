import { Badge, Box, Checkbox, Group, Progress, ScrollArea, Stack, Text, TextInput } from '@mantine/core'
import { memo } from 'react'
import { describeProblem } from '../ui/problem.tsx'
import type { Change, Outcome } from './changes.ts'
import { type BothValues, useComparedValues } from './compared-values.tsx'
import { secretsText } from './secrets-text.ts'
import { type Choice, replaces } from './use-choice.ts'
import { isConflict } from './write.ts'

const looks = {
  added: { color: 'sea', label: 'added' },
  changed: { color: 'orange', label: 'replaces another value' },
  overrides: { color: 'violet', label: 'overrides inherited' },
  unchanged: { color: 'gray', label: 'unchanged' },
  queued: { color: 'gray', label: 'waits for approval' },
} as const

interface Props {
  changes: Change[]
  choice: Choice
  /** The environment that would change. */
  where: string
  /** Decrypts the current value, and returns it with the new one. */
  open: (name: string) => Promise<BothValues>
}

/** Lists the changes by name. The person can choose each name or leave it out. */
export function Preview({ changes, choice, where, open }: Props) {
  if (changes.length === 0) return null
  const count = (kind: Change['kind']) => changes.filter((change) => change.kind === kind).length
  const parts = (Object.keys(looks) as Change['kind'][])
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${count(kind)} ${kind === 'changed' ? 'changed' : looks[kind].label}`)
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500} role="status">
        {parts.join(', ')}
      </Text>
      <ReplaceAll {...{ changes, choice, where }} />
      <ScrollArea.Autosize mah={260} type="auto" className="framed" viewportProps={{ tabIndex: 0 }}>
        <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Changes">
          {changes.slice(0, shownMax).map((change) => (
            <Item key={change.name} {...{ change, open }} isChosen={choice.isChosen(change)} onToggle={choice.toggle} />
          ))}
        </Stack>
      </ScrollArea.Autosize>
      {changes.length > shownMax && (
        <Text size="xs" c="dimmed">
          and {changes.length - shownMax} more
        </Text>
      )}
    </Stack>
  )
}

/** Existing values are replaced only if the person chooses them, singly or all at once. */
function ReplaceAll({ changes, choice, where }: Pick<Props, 'changes' | 'choice' | 'where'>) {
  const replaced = changes.filter(replaces)
  if (replaced.length === 0) return null
  const chosen = replaced.filter(choice.isChosen).length
  return (
    <Checkbox
      size="xs"
      label={`Replace ${replaced.length === 1 ? 'the value' : `all ${replaced.length} values`} that ${where} has now`}
      description="Values stay as they are unless you tick this."
      checked={chosen === replaced.length}
      indeterminate={chosen > 0 && chosen < replaced.length}
      onChange={(event) => choice.chooseReplaced(event.currentTarget.checked)}
    />
  )
}

/** Memoized, so that hundreds of names do not render again each time one is stored. */
const Item = memo(function Item(props: {
  change: Change
  isChosen: boolean
  onToggle: (change: Change) => void
  open: Props['open']
}) {
  const { change, isChosen, onToggle, open } = props
  const { name, kind } = change
  const { button, shown } = useComparedValues(change, open)
  return (
    <Box component="li" px="sm" py={6}>
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <Checkbox
          size="xs"
          label={name}
          classNames={{ label: 'mono' }}
          checked={isChosen}
          disabled={kind === 'unchanged' || kind === 'queued'}
          onChange={() => onToggle(change)}
        />
        <Group gap={4} wrap="nowrap" flex="none">
          {replaces(change) && button}
          <Badge variant="light" color={looks[kind].color} tt="none" fw={500}>
            {looks[kind].label}
          </Badge>
        </Group>
      </Group>
      {shown}
    </Box>
  )
}, isSameItem)

/** Compares two items without their functions, which always read the latest state. */
function isSameItem(before: { change: Change; isChosen: boolean }, after: { change: Change; isChosen: boolean }) {
  return before.change === after.change && before.isChosen === after.isChosen
}

const shownMax = 500

/** Asks why a protected environment should change. */
export function NoteField({ note, onChange }: { note: string; onChange: (note: string) => void }) {
  return (
    <TextInput
      label="Reason"
      description="Optional. The environment is protected, so the change waits for people who approve it. They and the server can read the reason, so write no values here."
      value={note}
      maxLength={2000}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

export function Progressing({ done, of }: { done: number; of: number }) {
  if (of === 0 || done === of) return null
  return <Progress value={(100 * done) / of} aria-label={`${done} of ${of} stored`} />
}

/** Lists the secrets that could not be stored. The others were stored. */
export function Failures({ outcome }: { outcome: Outcome | null }) {
  if (!outcome || outcome.failed.length === 0) return null
  return (
    <Stack gap={4} role="alert">
      <Text size="sm" fw={500} className="matrix-broken">
        {outcome.failed.length} could not be stored; {outcome.written.size + outcome.queued.length} are.
      </Text>
      {outcome.failed.slice(0, 10).map(({ name, error }) => (
        <Text size="xs" key={name}>
          <span className="mono">{name}</span>:{' '}
          {isConflict(error) ? 'someone else stored it meanwhile' : describeProblem(error).title}
        </Text>
      ))}
    </Stack>
  )
}

/** Returns the message after a dialog stored secrets: `3 secrets copied to Production.` */
export function outcomeMessage({ written, queued }: Counts, done: string): string {
  const stored = written > 0 ? [`${secretsText(written)} ${done}.`] : []
  const waiting =
    queued > 0 ? [queued === 1 ? '1 change waits for approval.' : `${queued} changes wait for approval.`] : []
  return [...stored, ...waiting].join(' ')
}

interface Counts {
  written: number
  queued: number
}

export const countsOf = ({ written, queued }: Outcome): Counts => ({ written: written.size, queued: queued.length })
