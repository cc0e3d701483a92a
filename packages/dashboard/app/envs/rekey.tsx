import { Button } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { Environment } from '../secrets/use-columns.ts'
import { Section } from '../ui/page.tsx'
import { useDialog } from '../ui/use-dialog.ts'

// This part of the page is loaded when it first opens.
const RekeyDialog = lazy(async () => ({ default: (await import('./rekey-dialog.tsx')).RekeyDialog }))

/** Replaces an environment's key, for example when someone must no longer read it. */
export function Rekey({ environment }: { environment: Environment }) {
  const replacing = useDialog()
  return (
    <Section
      title="Re-key the environment"
      description="Makes a new key, encrypts every current value with it, and gives it to everyone who keeps access. Do this after someone’s access has ended, or if the key may have leaked."
      actions={
        <Button variant="default" onClick={() => replacing.open()}>
          Re-key
        </Button>
      }
    >
      <Suspense>
        {replacing.show((onClose) => (
          <RekeyDialog environment={environment} onClose={onClose} />
        ))}
      </Suspense>
    </Section>
  )
}
