import { Alert, Badge, Checkbox, Code, Group, List, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { IconTriangleAlert } from '../ui/icons.ts'
import type { Plan } from './queries.ts'

/** Shows what a push would do to each name, and its effects at the destination. */
export function PlanView({ plan, adopting }: { plan: Plan; adopting?: Adopting }) {
  const { create, update, delete: removed, unchanged, foreign, refused, effects } = plan
  const isNothing = create.length + update.length + removed.length === 0
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Count count={create.length} says="new" color="sea" />
        <Count count={update.length} says="changed" color="blue" />
        <Count count={removed.length} says="deleted" color="red" />
        <Count count={unchanged.length} says="unchanged" color="gray" />
        <Count count={foreign.length + refused.length} says="left out" color="orange" />
      </Group>
      {isNothing && (
        <Text size="sm" c="dimmed">
          A push would write nothing now.
        </Text>
      )}
      <Names title="Written for the first time" names={create} />
      <Names title="Overwritten with another value" names={update} />
      <Names title="Deleted there" names={removed} />
      {foreign.length > 0 && <Foreign names={foreign} adopting={adopting} />}
      <Reasons title="Not pushed" failures={refused} />
      {effects.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          icon={<IconTriangleAlert size={18} />}
          title="Effects of a push at the destination"
        >
          {effects.map((effect) => (
            <Text key={effect} size="sm">
              {effect.replaceAll('`', '')}
            </Text>
          ))}
        </Alert>
      )}
    </Stack>
  )
}

/** The names written by others that this push may overwrite. */
interface Adopting {
  names: ReadonlySet<string>
  onToggle: (name: string) => void
}

function Foreign({ names, adopting }: { names: string[]; adopting: Adopting | undefined }) {
  if (!adopting) return <Names title="Already there, not written by Skerry, and left alone" names={names} />
  return (
    <Part title="Already there, not written by Skerry, and left alone unless you choose them">
      <Stack gap={6}>
        {names.map((name) => (
          <Checkbox
            key={name}
            size="xs"
            label={`Overwrite ${name}`}
            checked={adopting.names.has(name)}
            onChange={() => adopting.onToggle(name)}
          />
        ))}
      </Stack>
    </Part>
  )
}

function Count({ count, says, color }: { count: number; says: string; color: string }) {
  return (
    <Badge color={count === 0 ? 'gray' : color} variant={count === 0 ? 'default' : 'light'}>
      {count} {says}
    </Badge>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      {children}
    </Stack>
  )
}

export function Names({ title, names }: { title: string; names: string[] }) {
  if (names.length === 0) return null
  return (
    <Part title={title}>
      <Group gap={6}>
        {names.map((name) => (
          <Code key={name} style={{ wordBreak: 'break-all' }}>
            {name}
          </Code>
        ))}
      </Group>
    </Part>
  )
}

export function Reasons({ title, failures }: { title: string; failures: Plan['refused'] }) {
  if (failures.length === 0) return null
  return (
    <Part title={title}>
      <List size="sm" spacing={4} listStyleType="none">
        {failures.map(({ name, reason }) => (
          <List.Item key={name} style={{ wordBreak: 'break-word' }}>
            <span className="mono">{name}</span>: {reason}
          </List.Item>
        ))}
      </List>
    </Part>
  )
}
