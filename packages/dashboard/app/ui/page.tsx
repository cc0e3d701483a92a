import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

const widths = { text: 720, table: 1120, wide: 'none' }

/** The layout of a page: its title, a short description, its actions, and the tabs to related pages. */
export function Page(props: {
  title: string
  description?: ReactNode
  actions?: ReactNode
  /** `tabs` links to related pages. `part` is the name of this one, which comes first in the document's title. */
  tabs?: ReactNode
  part?: string
  /** `text` is narrow for reading, `table` is wide, and `wide` uses the whole width. */
  width?: 'text' | 'table' | 'wide'
  children: ReactNode
}) {
  const { title, description, actions, tabs, part, width = 'table', children } = props
  const documentTitle = part === undefined ? title : `${part} · ${title}`
  useEffect(() => {
    document.title = `${documentTitle} · Skerry`
  }, [documentTitle])
  // The space below the content is for a toast, which would otherwise cover the last buttons. A matrix scrolls by
  // itself.
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

/** A section of a page with its own heading. */
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
