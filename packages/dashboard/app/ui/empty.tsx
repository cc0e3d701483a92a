import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CommandLine } from './command-line.tsx'

/** Where nothing is yet: what would be here, how to make the first, and the same from the command line. */
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
