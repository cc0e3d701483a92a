import { Center, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** A page without the navigation, for signing in or for a single decision. */
export function StandalonePage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Skerry`
  }, [title])
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w="100%" maw={380} gap="md">
        <Group gap="xs">
          <img src="/skerry.svg" width={24} height={24} alt="" />
          <Text fw={600}>Skerry</Text>
        </Group>
        <Paper>
          <Stack gap="md">
            <Title order={1}>{title}</Title>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  )
}
