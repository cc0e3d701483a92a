import { Group, Select, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { isIncluded } from '@skerry/contract/sync/names'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import type { Binding } from './queries.ts'
import { namesQuery } from './queries.ts'

/** The settings of a binding other than its destination, as form values. */
export interface Filters {
  include: string[]
  exclude: string[]
  prefix: string
  suffix: string
  letters: 'keep' | 'upper' | 'lower'
  onDelete: Binding['onDelete']
  mode: Binding['mode']
  adopt: boolean
}

export const filtersOf = ({ nameTransform, include, exclude, onDelete, mode, adopt }: Binding): Filters => ({
  ...{ include, exclude, onDelete, mode, adopt },
  prefix: nameTransform.prefix ?? '',
  suffix: nameTransform.suffix ?? '',
  letters: nameTransform.case ?? 'keep',
})

/** Converts the form values to the settings for the API. */
export function settingsOf({ prefix, suffix, letters, mode, ...filters }: Filters) {
  const nameTransform = {
    ...(prefix === '' ? {} : { prefix }),
    ...(suffix === '' ? {} : { suffix }),
    ...(letters === 'keep' ? {} : { case: letters }),
  }
  return { planned: { ...filters, nameTransform }, mode }
}

const pattern = /^[A-Za-z0-9_*]{1,255}$/
const part = /^[A-Za-z0-9_.-]{0,100}$/

const patternsProblem = (patterns: string[]) =>
  patterns.every((one) => pattern.test(one)) ? null : 'Letters, digits, _ and * only.'
const partProblem = (text: string) => (part.test(text) ? null : 'Letters, digits, _, . and - only.')

/** Whether the typed filters are valid. */
export const areWhole = ({ include, exclude, prefix, suffix }: Filters): boolean =>
  patternsProblem([...include, ...exclude]) === null && partProblem(prefix) === null && partProblem(suffix) === null

interface Props {
  environmentId: string
  value: Filters
  onChange: (change: Partial<Filters>) => void
}

export function FilterFields({ environmentId, value, onChange }: Props) {
  const { include, exclude, prefix, suffix, letters, onDelete, mode, adopt } = value
  const common = { splitChars: [',', ' '], classNames: { input: 'mono' } }
  return (
    <Stack>
      <TagsInput
        {...common}
        label="Include"
        description="Leave this empty to push all names. * stands for any characters."
        placeholder={include.length === 0 ? 'DB_*' : ''}
        value={include}
        error={patternsProblem(include)}
        onChange={(to) => onChange({ include: to })}
      />
      <TagsInput
        {...common}
        label="Exclude"
        placeholder={exclude.length === 0 ? 'LOG_*' : ''}
        value={exclude}
        error={patternsProblem(exclude)}
        onChange={(to) => onChange({ exclude: to })}
      />
      <Matched environmentId={environmentId} include={include} exclude={exclude} />
      <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
        <NamePart label="Prefix" value={prefix} onChange={(to) => onChange({ prefix: to })} />
        <NamePart label="Suffix" value={suffix} onChange={(to) => onChange({ suffix: to })} />
        <Select
          label="Case"
          data={[
            { value: 'keep', label: 'unchanged' },
            { value: 'upper', label: 'UPPER CASE' },
            { value: 'lower', label: 'lower case' },
          ]}
          value={letters}
          allowDeselect={false}
          miw={130}
          onChange={(to) => onChange({ letters: to as Filters['letters'] })}
        />
      </Group>
      <Select
        label="A name that is no longer pushed"
        description="Skerry deletes only values that this binding wrote and nobody changed since."
        data={[
          { value: 'keep', label: 'stays there' },
          { value: 'delete', label: 'is deleted there' },
        ]}
        value={onDelete}
        allowDeselect={false}
        onChange={(to) => onChange({ onDelete: to as Filters['onDelete'] })}
      />
      <Switch
        label="Overwrite values that Skerry did not write"
        checked={adopt}
        onChange={(event) => onChange({ adopt: event.currentTarget.checked })}
      />
      <Switch
        label="Push automatically after each change"
        description="Within seconds. Otherwise Skerry pushes only when somebody chooses “Push now…”."
        checked={mode === 'auto'}
        onChange={(event) => onChange({ mode: event.currentTarget.checked ? 'auto' : 'manual' })}
      />
    </Stack>
  )
}

function NamePart(props: { label: string; value: string; onChange: (value: string) => void }) {
  const { label, value, onChange } = props
  return (
    <TextInput
      label={label}
      classNames={{ input: 'mono' }}
      autoComplete="off"
      spellCheck={false}
      miw={130}
      value={value}
      error={partProblem(value)}
      onChange={(event) => onChange(event.currentTarget.value.trim())}
    />
  )
}

const shownMax = 12

/** Lists the environment's secrets that the filters match, by the same rule as on the server. */
function Matched({ environmentId, ...filter }: { environmentId: string } & Pick<Filters, 'include' | 'exclude'>) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const names = useQuery(namesQuery(org.id, environmentId)).data
  if (!names) return null
  const matched = names.filter((name) => isIncluded(name, filter))
  const more = matched.length - shownMax
  return (
    <Text size="xs" c="dimmed" aria-live="polite" style={{ wordBreak: 'break-word' }}>
      {matched.length} of {names.length} names{matched.length > 0 && ': '}
      <span className="mono">{matched.slice(0, shownMax).join(', ')}</span>
      {more > 0 && ` and ${more} more`}
    </Text>
  )
}
