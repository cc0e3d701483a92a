import { Stack } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** A page without the navigation, for signing in or for a single decision. */
export function StandalonePage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Skerry`
  }, [title])
  return (
    <main className="alone">
      <div className="alone-mark">
        <img src="/skerry.svg" width={20} height={20} alt="" />
        Skerry
      </div>
      <h1>{title}</h1>
      <Stack gap="lg">{children}</Stack>
    </main>
  )
}
