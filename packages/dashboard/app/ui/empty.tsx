import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CommandLine } from './command-line.tsx'

/**
 * Shown instead of an empty list: what the list would contain, how to create the first entry, and the command that does
 * it.
 */
export function Empty(props: { title: string; children?: ReactNode; action?: ReactNode; command?: string | false }) {
  const { title, children, action, command } = props
  return (
    <Paper p="xl">
      <Stack align="center" gap="sm" ta="center">
        <Text fw={600}>{title}</Text>
        {children && (
          <Text c="dimmed" size="sm" maw={440}>
            {children}
          </Text>
        )}
        {action}
        {command && <CommandLine command={command} />}
      </Stack>
    </Paper>
  )
}
