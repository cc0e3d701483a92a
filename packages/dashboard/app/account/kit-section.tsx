import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { recoveryKitQuery } from './queries.ts'

// This part of the page is loaded when it first opens.
const NewKit = lazy(async () => ({ default: (await import('./new-kit.tsx')).NewKit }))

/** Makes, replaces and removes the recovery kit. `isMaking` is true while its dialog is open. */
export function KitSection(props: {
  person: { userId: string; email: string; publicKeyJwk: string }
  isMaking: boolean
  onMaking: (isMaking: boolean) => void
}) {
  const { person, isMaking, onMaking } = props
  const query = useQuery(recoveryKitQuery)
  const kit = query.data?.kit
  const removing = useConfirm(() => ({
    title: 'Remove the recovery kit?',
    text: 'The code on your page no longer opens your keyring.',
    confirm: 'Remove',
    onConfirm: () => api.recoveryKit.delete(),
    stale: [recoveryKitQuery],
  }))
  const saved = () => {
    onMaking(false)
    showToast('The code of this recovery kit opens your keyring. Earlier kits no longer work.')
  }
  return (
    <Section
      title="Recovery kit"
      description="A page with a code that opens your keyring if you lose the passphrase. The server never gets the code."
      actions={
        <>
          {kit && (
            <Button variant="default" onClick={() => removing.open()}>
              Remove the kit…
            </Button>
          )}
          <Button variant="default" disabled={!query.data} onClick={() => onMaking(true)}>
            {kit ? 'Replace the kit…' : 'Make a kit…'}
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {({ kit: stored }) => (
          <Text size="sm" c="dimmed">
            {stored ? (
              <>
                You made a kit <RelativeTime at={stored.createdAt} />.
              </>
            ) : (
              'You have no kit. If you lose the passphrase and every passkey, only people who hold the same keys can give you access again.'
            )}
          </Text>
        )}
      </Loaded>
      {isMaking && (
        <Dialog
          opened
          onClose={() => onMaking(false)}
          closeOnClickOutside={false}
          title={kit ? 'Replace the recovery kit' : 'Make a recovery kit'}
        >
          <Suspense>
            <NewKit person={person} onSaved={saved} />
          </Suspense>
        </Dialog>
      )}
      {removing.dialog}
    </Section>
  )
}
