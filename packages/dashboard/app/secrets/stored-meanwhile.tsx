import { Button, Group, Text } from '@mantine/core'
import type { CellActions } from './cell-actions.ts'
import type { Column } from './columns.ts'
import { useStoredBy } from './stored-by.ts'

interface Props {
  column: Column
  name: string
  actions: CellActions
  /** The version that another person stored. Zero means that they deleted the secret. */
  version: number
}

/** Says who stored a version while this person typed, and offers to compare both values. */
export function StoredMeanwhile({ column, name, actions, version }: Props) {
  const by = useStoredBy(column.environmentId, name, version)
  return (
    <Group gap={6} role="alert">
      <Text size="xs" className="matrix-broken">
        {version === 0
          ? `Someone deleted ${name} while you typed.`
          : `${by} stored version ${version} while you typed.`}
      </Text>
      <Button size="compact-xs" variant="light" color="red" onClick={() => actions.resolveConflict(column, name)}>
        Compare
      </Button>
    </Group>
  )
}
