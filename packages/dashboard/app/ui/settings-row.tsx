import { Group, Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A row for a setting or an action, with its button at the end. */
export function SettingsRow(props: { title: string; children: ReactNode; action: ReactNode }) {
  const { title, children, action } = props
  return (
    <Paper p="md" mb="sm">
      <Group justify="space-between" gap="md">
        <Stack gap={2} flex={1} miw={220}>
          <Text size="sm" fw={500}>
            {title}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            {children}
          </Text>
        </Stack>
        {action}
      </Group>
    </Paper>
  )
}
