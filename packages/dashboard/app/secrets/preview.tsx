import { Badge, Checkbox, Group, Progress, ScrollArea, Stack, Text, TextInput } from '@mantine/core'
import { memo } from 'react'
import { describeProblem } from '../ui/problem.tsx'
import type { Change, Outcome } from './changes.ts'
import { isConflict } from './write.ts'

const looks = {
  added: { color: 'sea', label: 'added' },
  changed: { color: 'orange', label: 'changed' },
  overrides: { color: 'violet', label: 'overrides inherited' },
  unchanged: { color: 'gray', label: 'unchanged' },
} as const

/** What would change, name by name, each to be left out. Hundreds of them are not made anew for each that is stored. */
export const Preview = memo(function Preview(props: {
  changes: Change[]
  excluded: ReadonlySet<string>
  onExclude: (excluded: ReadonlySet<string>) => void
}) {
  const { changes, excluded, onExclude } = props
  const count = (kind: Change['kind']) => changes.filter((change) => change.kind === kind).length
  const parts = (Object.keys(looks) as Change['kind'][])
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${count(kind)} ${looks[kind].label}`)
  const toggle = (name: string) => {
    const after = new Set(excluded)
    if (!after.delete(name)) after.add(name)
    onExclude(after)
  }
  if (changes.length === 0) return null
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500} role="status">
        {parts.join(', ')}
      </Text>
      <ScrollArea.Autosize mah={260} type="auto" className="framed" viewportProps={{ tabIndex: 0 }}>
        <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Changes">
          {changes.slice(0, shownMax).map((change) => (
            <Group component="li" key={change.name} px="sm" py={6} gap="xs" wrap="nowrap" justify="space-between">
              <Checkbox
                size="xs"
                label={change.name}
                classNames={{ label: 'mono' }}
                checked={change.kind !== 'unchanged' && !excluded.has(change.name)}
                disabled={change.kind === 'unchanged'}
                onChange={() => toggle(change.name)}
              />
              <Badge variant="light" color={looks[change.kind].color} style={{ flex: 'none' }} tt="none" fw={500}>
                {looks[change.kind].label}
              </Badge>
            </Group>
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
})

const shownMax = 500

export const wanted = (changes: Change[], excluded: ReadonlySet<string>) =>
  changes.filter(({ name, kind }) => kind !== 'unchanged' && !excluded.has(name)).map(({ name }) => name)

/** Why a protected environment is to change. */
export function NoteField({ note, onChange }: { note: string; onChange: (note: string) => void }) {
  return (
    <TextInput
      label="Note"
      description="This environment is protected: the changes wait for approval. Say why, if you like."
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

/** The secrets that could not be stored; the others were. */
export function Failures({ outcome }: { outcome: Outcome | null }) {
  if (!outcome || outcome.failed.length === 0) return null
  return (
    <Stack gap={4} role="alert">
      <Text size="sm" fw={500} className="matrix-broken">
        {outcome.failed.length} could not be stored; {outcome.written + outcome.queued} are.
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

export function outcomeMessage({ written, queued }: Outcome): string {
  const stored = written > 0 ? [`${written} stored`] : []
  const waiting = queued > 0 ? [queued === 1 ? '1 waits for approval' : `${queued} wait for approval`] : []
  return `${[...stored, ...waiting].join(', ')}.`
}
