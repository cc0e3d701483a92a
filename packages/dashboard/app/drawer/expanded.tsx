import { Button, Group, Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { keyring, usePlaintext } from '../keyring.ts'
import { type Column, sealedParts } from '../secrets/columns.ts'
import { Copy } from '../ui/copy.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

/** Shows the value that programs get, with its references expanded. */
export function Expanded({ column, name }: { column: Column; name: string }) {
  const [isExpanding, setIsExpanding] = useState(false)
  return (
    <Stack gap="xs" mt="sm">
      <Switch
        size="xs"
        label="Expand references such as ${NAME}"
        checked={isExpanding}
        onChange={(event) => setIsExpanding(event.currentTarget.checked)}
      />
      {isExpanding && <ExpandedValue column={column} name={name} />}
    </Stack>
  )
}

function ExpandedValue({ column, name }: { column: Column; name: string }) {
  const [expanded, setExpanded] = usePlaintext<{ value: string; unresolved: string[] } | null>(null)
  const action = useAction(async () =>
    setExpanded(await keyring.call('expandSecret', { name, layers: sealedParts(column.entries.values()) })),
  )
  if (!expanded)
    return (
      <Stack gap="xs" align="flex-start">
        <Button size="xs" variant="default" loading={action.pending} onClick={() => action.run()}>
          Show the expanded value
        </Button>
        <ProblemAlert error={action.error} />
      </Stack>
    )
  return (
    <Stack gap={4}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Text className="mono" aria-label="Expanded value" style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }}>
          {expanded.value}
        </Text>
        <Copy text={expanded.value} label="Copy the expanded value" />
      </Group>
      {expanded.unresolved.length > 0 && (
        <Text size="xs" className="matrix-missing">
          Not expanded, because {column.name} has no secret of this name: {expanded.unresolved.join(', ')}
        </Text>
      )}
    </Stack>
  )
}
