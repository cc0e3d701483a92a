import { Button } from '@mantine/core'
import { useNavigate, useRouteContext, useSearch } from '@tanstack/react-router'
import { type ComponentProps, type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { usePlaintext } from '../keyring.ts'
import { ForAdmins } from '../ui/for-admins.tsx'
import { IconPlus } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import type { ShownOnce as ShownOnceDialog } from './shown-once.tsx'

// Loaded when first asked for.
const ShownOnce = lazy(async () => ({ default: (await import('./shown-once.tsx')).ShownOnce }))

/** One kind of tokens, for admins: their list, the dialog that creates one, and the new token, which is shown once. */
export function TokensPage<Made>(props: {
  title: string
  description: string
  newLabel: string
  CreateDialog: ComponentType<{ onClose: () => void; onMade: (made: Made) => void }>
  /** What to show of the new token; null when locking the keyring has cleared it. */
  shownOnce: (made: Made | null) => Omit<ComponentProps<typeof ShownOnceDialog>, 'onClose'>
  children: ReactNode
}) {
  const { title, description, newLabel, CreateDialog, shownOnce, children } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { create } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [made, setMade, wasCleared] = usePlaintext<Made | null>(null)
  const newButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ to: '.', search: { create: true } })}>
      {newLabel}
    </Button>
  )
  return (
    <Page title={title} description={description} actions={org.role !== 'member' && newButton}>
      <ForAdmins>
        {children}
        <Suspense>
          {made !== null || wasCleared ? (
            <ShownOnce {...shownOnce(made)} onClose={() => setMade(null)} />
          ) : (
            create && <CreateDialog onClose={() => navigate({ to: '.', search: {} })} onMade={setMade} />
          )}
        </Suspense>
      </ForAdmins>
    </Page>
  )
}
