// A page that is made at build time would keep the value of the build. This one is made for each request.
export const dynamic = 'force-dynamic'

export default function Page() {
  const { DATABASE_URL } = process.env
  return <p>The database is {DATABASE_URL ? new URL(DATABASE_URL).host : 'not configured'}.</p>
}
