import { SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import type { SyncTag } from '@skerry/contract/sync/providers'
import { syncVendors } from '@skerry/contract/vendors'
import { useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { IconSearch } from '../ui/icons.ts'

/** The gallery of all kinds of sync destinations. */
export function ProviderGallery({ onChoose, onClose }: { onChoose: (tag: SyncTag) => void; onClose: () => void }) {
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
          {found.map(({ tag, name }) => (
            <UnstyledButton key={tag} className="sync-provider" onClick={() => onChoose(tag)}>
              <Text size="sm" fw={600}>
                {name}
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

const providers = (Object.keys(syncVendors) as SyncTag[])
  .map((tag) => ({ tag, ...syncVendors[tag] }))
  .sort((one, other) => one.name.localeCompare(other.name))

/** People may search by the name, by the word that they type in the command line, or by the tag of the API. */
const isFound = ({ tag, name, slug }: (typeof providers)[number], text: string) =>
  `${name} ${slug} ${tag}`.toLowerCase().includes(text.trim().toLowerCase())
