import { SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import type { SyncTag } from '@skerry/contract/sync/providers'
import { use, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { IconSearch } from '../ui/icons.ts'
import { type Provider, syncSchemas } from './schemas.ts'

/** The gallery of all kinds of sync destinations. */
export function ProviderGallery({ onChoose, onClose }: { onChoose: (tag: SyncTag) => void; onClose: () => void }) {
  const providers = [...use(syncSchemas()).values()].sort((one, other) => one.label.localeCompare(other.label))
  const [text, setText] = useState('')
  const found = providers.filter((provider) => isFound(provider, text))
  return (
    <Dialog opened onClose={onClose} title="Connect a destination" size="xl">
      <Stack>
        <TextInput
          aria-label="Find a destination"
          placeholder="Find a destination"
          leftSection={<IconSearch size={16} />}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
        />
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
          {found.map(({ tag, label }) => (
            <UnstyledButton key={tag} className="sync-provider" onClick={() => onChoose(tag)}>
              <Text size="sm" fw={600}>
                {label}
              </Text>
              <Text size="xs" c="dimmed" className="mono">
                {tag}
              </Text>
            </UnstyledButton>
          ))}
        </SimpleGrid>
        {found.length === 0 && (
          <Text size="sm" c="dimmed">
            There is no such destination.
          </Text>
        )}
      </Stack>
    </Dialog>
  )
}

const isFound = ({ tag, label }: Provider, text: string) =>
  `${label} ${tag}`.toLowerCase().includes(text.trim().toLowerCase())
