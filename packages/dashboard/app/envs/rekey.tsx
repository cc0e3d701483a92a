import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Environment } from '../secrets/use-columns.ts'
import { Section } from '../ui/page.tsx'

// Loaded when first asked for.
const RekeyDialog = lazy(async () => ({ default: (await import('./rekey-dialog.tsx')).RekeyDialog }))

/** Another key for an environment: for when someone must not read it any more. */
export function Rekey({ environment }: { environment: Environment }) {
  const [opened, setOpened] = useState(false)
  return (
    <Section
      title="Replace the key"
      description="Makes a new key, encrypts every current value with it, and gives it to those who keep access. Do this after someone’s access has ended, or when the key may have leaked."
      actions={
        <Button variant="default" onClick={() => setOpened(true)}>
          Re-key
        </Button>
      }
    >
      <Suspense>{opened && <RekeyDialog environment={environment} onClose={() => setOpened(false)} />}</Suspense>
    </Section>
  )
}
