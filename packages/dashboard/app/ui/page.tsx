import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

const widths = { text: 720, table: 1120, wide: 'none' }

/** One page: its title, one sentence about it, what can be done on it, and the tabs that lead to its other parts. */
export function Page(props: {
  title: string
  description?: ReactNode
  actions?: ReactNode
  /** Links to the other parts, and the label of this one, which the document's title has first. */
  tabs?: ReactNode
  part?: string
  /** Text is read best in a narrow column, tables in a wide one; `wide` uses the whole width. */
  width?: 'text' | 'table' | 'wide'
  children: ReactNode
}) {
  const { title, description, actions, tabs, part, width = 'table', children } = props
  const documentTitle = part === undefined ? title : `${part} · ${title}`
  useEffect(() => {
    document.title = `${documentTitle} · Skerry`
  }, [documentTitle])
  // Room below the content for a toast, which would cover the last buttons otherwise. A matrix scrolls by itself.
  return (
    <Box maw={widths[width]} mx="auto" pb={width === 'wide' ? 'xl' : 88}>
      <Group justify="space-between" align="flex-start" mb="lg" gap="md">
        <Stack gap={2}>
          <Title order={1}>{title}</Title>
          {description && (
            <Text c="dimmed" size="sm" maw={640}>
              {description}
            </Text>
          )}
        </Stack>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {tabs}
      {children}
    </Box>
  )
}

/** A part of a page under its own heading. */
export function Section(props: { title: string; description?: ReactNode; actions?: ReactNode; children?: ReactNode }) {
  const { title, description, actions, children } = props
  return (
    <Box component="section" mb="xl">
      <Group justify="space-between" align="flex-start" mb="sm" gap="md" wrap="nowrap">
        <Stack gap={2} maw={560}>
          <Title order={2}>{title}</Title>
          {description && (
            <Text c="dimmed" size="sm">
              {description}
            </Text>
          )}
        </Stack>
        {actions && (
          <Group gap="xs" style={{ flexShrink: 0 }}>
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Box>
  )
}
