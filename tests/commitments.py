"""Commitments whose fate in a summary is known: kept in their words, told in other words, or dropped.

The numbers of the probe were chosen on the first sets. The second ones were written afterwards; they lowered its
threshold from 0.55 to 0.5 and taught it `Samstagabend`. The unseen ones were written last and changed nothing.
"""

from typing import NamedTuple

STORY = """\
We spent the week on the kitchen. Mara found the tiles too dark at first and then liked them, and we laughed about the
plumber who came on the wrong day. The move is still far away, and she sleeps better since the baby of the neighbours is
quieter. Work was heavy: two reviews, a long call with the people in Lyon, and the report that nobody wanted to read.
In between she asked about trains and about a name for the boat. The mood was light, with one bad evening in the middle.
"""
GESCHICHTE = """\
Die Woche gehörte der Küche. Mara fand die Fliesen zuerst zu dunkel und mochte sie dann, und wir haben über den
Klempner gelacht, der am falschen Tag kam. Der Umzug ist noch weit weg, und sie schläft besser, seit das Kind der
Nachbarn ruhiger ist. Die Arbeit war schwer: zwei Besprechungen, ein langes Gespräch mit den Leuten in Lyon und der
Bericht, den niemand lesen wollte. Dazwischen fragte sie nach Zügen und nach einem Namen für das Boot.
"""


class Case(NamedTuple):
    commitment: str
    kept: str
    """Told in nearly the same words."""
    paraphrased: str
    dropped: str
    """The same people and things, and not the promise."""


ENGLISH = [
    Case(
        "Mara will send the signed lease to Mr. Okafor by Friday.",
        "She will send the signed lease to Mr. Okafor by Friday.",
        "Okafor still waits for the lease, signed; she said that it goes out on Friday.",
        "She complained that Mr. Okafor never answers the phone, and that Fridays are the worst.",
    ),
    Case(
        "The assistant promised to remind Mara of the dentist on 2026-03-14 at 15:00.",
        "I promised to remind her of the dentist on 14 March at 3 pm.",
        "There is the dentist's appointment on 14.3., of which I said I would remind her.",
        "She was at the dentist in January and it did not hurt.",
    ),
    Case(
        "Pay the plumber 480 euros before the end of March.",
        "The plumber gets his 480 euros before the end of March.",
        "What is open with the plumber are the 480 euros, to be paid in March.",
        "The plumber came on the wrong day and left his ladder behind.",
    ),
    Case(
        "Write the letter of recommendation for Tomasz.",
        "I am to write a letter of recommendation for Tomasz.",
        "Tomasz hopes for a recommendation, and she said that she writes it.",
        "Tomasz has a new job in Gdansk and likes the sea.",
    ),
    Case(
        "Mara wants to call her mother about the will on Sunday.",
        "On Sunday she wants to call her mother about the will.",
        "The will has to be talked over with her mother: the call is planned for Sunday.",
        "Her mother visited for a day and brought a cake.",
    ),
    Case(
        "Return the borrowed projector to the library by 20 April.",
        "The projector is borrowed from the library and goes back by 20 April.",
        "By the 20th of April the library wants its projector returned.",
        "They watched an old film with a projector and fell asleep.",
    ),
    Case(
        "Book two train tickets to Lyon for the conference in May.",
        "Two train tickets to Lyon are to be booked for the conference in May.",
        "For May's conference in Lyon the tickets are still not booked; she goes by train.",
        "The people in Lyon called again and talked for an hour about the report.",
    ),
    Case(
        "Cancel the gym membership before it renews.",
        "The gym membership is to be cancelled before it renews.",
        "She has not cancelled her membership at the gym yet, and it would renew itself.",
        "She went to the gym twice and was proud of it.",
    ),
    Case(
        "Water Jonas's plants while he is in Oslo.",
        "She waters the plants of Jonas while he is in Oslo.",
        "Jonas is in Oslo, and his plants depend on her for water.",
        "Jonas wrote from Oslo: rain, expensive coffee, good museums.",
    ),
    Case(
        "Check whether the backup of the old laptop is complete.",
        "I wanted to check whether the backup of the old laptop is complete.",
        "Open: the old laptop's backup, and whether all of it is there.",
        "The new laptop arrived and its keyboard is better.",
    ),
    Case(
        "Lend Priya the tent for her trip in July.",
        "Priya gets the tent lent for her trip in July.",
        "The tent is promised to Priya, who travels in July.",
        "Priya told us about her sister's wedding and the heat.",
    ),
    Case(
        "Finish the grant proposal with Hassan and submit it by 1 June.",
        "The grant proposal with Hassan is to be finished and submitted by 1 June.",
        "She and Hassan submit the proposal for the grant on the first days of June, at the latest on 1 June.",
        "Hassan was ill for a week and sends his regards.",
    ),
]

GERMAN = [
    Case(
        "Mara schickt Herrn Okafor bis Freitag den unterschriebenen Mietvertrag.",
        "Sie schickt Herrn Okafor bis Freitag den unterschriebenen Mietvertrag.",
        "Okafor wartet noch auf den Vertrag; unterschrieben geht er am Freitag hinaus, sagt sie.",
        "Sie ärgerte sich, dass Herr Okafor nie ans Telefon geht, und Freitage mag sie nicht.",
    ),
    Case(
        "Ich erinnere Mara am 14. März um 15 Uhr an den Zahnarzttermin.",
        "Am 14.3. um 15:00 soll ich sie an den Zahnarzttermin erinnern.",
        "Am 14. März ist der Termin beim Zahnarzt, an den ich sie erinnern wollte.",
        "Beim Zahnarzt war sie im Januar, und es tat nicht weh.",
    ),
    Case(
        "Dem Klempner 480 Euro überweisen, spätestens Ende März.",
        "Dem Klempner sind spätestens Ende März 480 Euro zu überweisen.",
        "Offen sind noch die 480 Euro, die der Klempner im März überwiesen bekommt.",
        "Der Klempner kam am falschen Tag und vergaß seine Leiter.",
    ),
    Case(
        "Das Empfehlungsschreiben für Tomasz fertig schreiben.",
        "Das Empfehlungsschreiben für Tomasz ist fertig zu schreiben.",
        "Tomasz hofft auf ihre Empfehlung; geschrieben ist sie noch nicht.",
        "Tomasz hat eine neue Stelle in Danzig und mag das Meer.",
    ),
    Case(
        "Mara will am Sonntag ihre Mutter wegen des Testaments anrufen.",
        "Am Sonntag will sie ihre Mutter wegen des Testaments anrufen.",
        "Wegen des Testaments ruft sie am Sonntag die Mutter an.",
        "Ihre Mutter war einen Tag zu Besuch und brachte Kuchen mit.",
    ),
    Case(
        "Den geliehenen Beamer bis 20. April in die Bibliothek zurückbringen.",
        "Der geliehene Beamer ist bis 20. April in die Bibliothek zurückzubringen.",
        "Bis zum 20.4. will die Bibliothek ihren Beamer zurück haben.",
        "Sie haben mit dem Beamer einen alten Film gesehen und sind eingeschlafen.",
    ),
    Case(
        "Zwei Fahrkarten nach Lyon für die Tagung im Mai buchen.",
        "Zwei Fahrkarten nach Lyon für die Tagung im Mai sind zu buchen.",
        "Für die Tagung in Lyon fehlen noch die Karten; gebucht wird vor dem Mai.",
        "Die Leute aus Lyon riefen wieder an und sprachen lange über den Bericht.",
    ),
    Case(
        "Den Vertrag mit dem Fitnessstudio kündigen, bevor er sich verlängert.",
        "Der Vertrag mit dem Fitnessstudio ist zu kündigen, bevor er sich verlängert.",
        "Im Studio ist sie noch Mitglied: gekündigt werden muss, sonst verlängert sich der Vertrag.",
        "Zweimal war sie im Fitnessstudio und war stolz darauf.",
    ),
    Case(
        "Jonas' Pflanzen gießen, solange er in Oslo ist.",
        "Sie gießt die Pflanzen von Jonas, solange er in Oslo ist.",
        "Jonas ist in Oslo, und seine Pflanzen müssen von ihr gegossen werden.",
        "Jonas schrieb aus Oslo: Regen, teurer Kaffee, gute Museen.",
    ),
    Case(
        "Prüfen, ob die Sicherung des alten Rechners vollständig ist.",
        "Zu prüfen ist, ob die Sicherung des alten Rechners vollständig ist.",
        "Offen ist, ob vom alten Rechner alles gesichert wurde; das wollte ich prüfen.",
        "Der neue Rechner ist da, und seine Tasten sind besser.",
    ),
    Case(
        "Priya im Juli das Zelt für ihre Reise leihen.",
        "Priya bekommt im Juli das Zelt für ihre Reise geliehen.",
        "Das Zelt ist Priya versprochen, die im Juli verreist.",
        "Priya erzählte von der Hochzeit ihrer Schwester und der Hitze.",
    ),
    Case(
        "Mit Hassan den Förderantrag abschließen und bis 1. Juni einreichen.",
        "Den Förderantrag mit Hassan abschließen und bis 1. Juni einreichen.",
        "Bis zum 1.6. reichen Hassan und sie den Antrag ein.",
        "Hassan war eine Woche krank und lässt grüßen.",
    ),
]


SECOND_ENGLISH = [
    Case(
        "Review Lena's pull request on the payment retries by Wednesday.",
        "I review Lena's pull request on the payment retries by Wednesday.",
        "Lena expects a review of her retry change for payments before Wednesday.",
        "Lena joined the payments team and sits by the window.",
    ),
    Case(
        "The user promised Dr. Weiss to bring the blood test results on 3 November.",
        "She brings the blood test results to Dr. Weiss on 3 November.",
        "Dr. Weiss sees her on November 3rd, with the results of the test.",
        "Dr. Weiss was kind and told her to walk more.",
    ),
    Case(
        "Renew the passport before the flight to Nairobi in August.",
        "The passport is renewed before the flight to Nairobi in August.",
        "The passport runs out and has to be new when they fly to Nairobi.",
        "Nairobi was a dream of hers since she was ten, she told me in August.",
    ),
    Case(
        "Prepare slides for the board meeting on Thursday.",
        "The slides for the board meeting on Thursday are to be prepared.",
        "On Thursday the board meets, and her slides for it are not done.",
        "The board liked the numbers and asked nothing.",
    ),
    Case(
        "Agreed to keep the old API running until the end of the year.",
        "The old API is kept running until the end of the year.",
        "Nobody switches off the old API before the year ends: that is agreed.",
        "The new API is faster and has better errors.",
    ),
    Case(
        "Look for a babysitter for Saturday evening.",
        "A babysitter is looked for, for Saturday evening.",
        "They still need somebody to babysit on Saturday.",
        "Saturday was wild, with pancakes and a broken cup.",
    ),
    Case(
        "Send grandma the photos of the twins.",
        "Grandma gets the photos of the twins sent.",
        "Pictures of the twins are to go to her grandma.",
        "The twins had a cold and slept badly.",
    ),
    Case(
        "I'll follow up with the insurance about the claim 88-1204.",
        "I follow up with the insurance about the claim 88-1204.",
        "The claim at the insurance (88-1204) is open; I ask there again.",
        "The insurance got dearer again this year.",
    ),
]

SECOND_GERMAN = [
    Case(
        "Lenas Merge Request zu den Wiederholungen bis Mittwoch durchsehen.",
        "Lenas Merge Request zu den Wiederholungen bis Mittwoch durchsehen.",
        "Lena hofft, dass ihr Merge Request bis Mittwoch durchgesehen ist.",
        "Lena ist neu im Team und sitzt am Fenster.",
    ),
    Case(
        "Frau Dr. Weiss am 3. November die Blutwerte mitbringen.",
        "Sie bringt Frau Dr. Weiss am 3. November die Blutwerte mit.",
        "Am 3.11. ist sie bei Dr. Weiss, und die Blutwerte sollen dabei sein.",
        "Dr. Weiss war freundlich und riet zu mehr Bewegung.",
    ),
    Case(
        "Vor dem Flug nach Nairobi im August den Reisepass verlängern.",
        "Der Reisepass ist vor dem Flug nach Nairobi im August zu verlängern.",
        "Der Pass läuft ab und muss neu sein, wenn sie im August nach Nairobi fliegen.",
        "Von Nairobi träumt sie, seit sie zehn ist.",
    ),
    Case(
        "Folien für die Sitzung am Donnerstag vorbereiten.",
        "Die Folien für die Sitzung am Donnerstag sind vorzubereiten.",
        "Am Donnerstag ist Sitzung, und ihre Folien sind noch nicht vorbereitet.",
        "In der Sitzung gefielen die Zahlen, und niemand fragte.",
    ),
    Case(
        "Die alte Schnittstelle bleibt bis Jahresende in Betrieb.",
        "Die alte Schnittstelle bleibt bis Jahresende in Betrieb.",
        "Vor dem Ende des Jahres wird die alte Schnittstelle nicht abgeschaltet.",
        "Die neue Schnittstelle ist schneller.",
    ),
    Case(
        "Für Samstagabend einen Babysitter suchen.",
        "Für Samstagabend wird ein Babysitter gesucht.",
        "Am Samstag fehlt ihnen noch ein Babysitter.",
        "Am Samstag gab es Pfannkuchen und Scherben.",
    ),
    Case(
        "Oma die Fotos der Zwillinge schicken.",
        "Oma bekommt die Fotos der Zwillinge geschickt.",
        "Die Bilder von den Zwillingen sollen noch an Oma gehen.",
        "Die Zwillinge waren erkältet.",
    ),
    Case(
        "Bei der Versicherung wegen des Schadens 88-1204 nachfragen.",
        "Bei der Versicherung wegen des Schadens 88-1204 nachfragen.",
        "Der Schaden 88-1204 ist bei der Versicherung offen; ich frage dort nach.",
        "Die Versicherung wird wieder teurer.",
    ),
]

UNSEEN_ENGLISH = [
    Case(
        "Order new filters for the coffee machine this week.",
        "New filters for the coffee machine are to be ordered this week.",
        "The coffee machine needs filters, which I said I would order.",
        "The coffee machine hissed all morning and she drank tea.",
    ),
    Case(
        "Tell Ingrid by Monday whether the room is free in September.",
        "Ingrid is told by Monday whether the room is free in September.",
        "Ingrid asked about the room for September and hears from us on Monday.",
        "Ingrid phoned on Monday, about nothing in particular, for an hour.",
    ),
    Case(
        "Deploy the fix for issue 4312 once the tests on staging pass.",
        "The fix for issue 4312 is deployed once the tests on staging pass.",
        "Issue 4312 is fixed but not out: it waits for staging's tests.",
        "Staging was slow again and nobody knew why.",
    ),
    Case(
        "Take the car to the garage for its inspection on 9 October.",
        "On 9 October the car goes to the garage for its inspection.",
        "The car's inspection is due; the garage expects it on the ninth, 9 October.",
        "The car smelled of wet dog after the trip in October.",
    ),
    Case(
        "Proofread chapter three of Milo's thesis.",
        "Chapter three of Milo's thesis is to be proofread.",
        "Milo waits for her remarks on the third chapter of the thesis.",
        "Milo sleeps little because of his thesis and is short-tempered.",
    ),
    Case(
        "Ask the landlord for permission to keep a cat.",
        "The landlord is to be asked for permission to keep a cat.",
        "Before a cat comes into the house, its landlord has to allow it; she asks him.",
        "The landlord raised the rent, and she was angry all day.",
    ),
]

UNSEEN_GERMAN = [
    Case(
        "Diese Woche neue Filter für die Kaffeemaschine bestellen.",
        "Neue Filter für die Kaffeemaschine sind diese Woche zu bestellen.",
        "Der Kaffeemaschine fehlen Filter, ich wollte welche bestellen.",
        "Die Kaffeemaschine zischte den ganzen Morgen, und sie trank Tee.",
    ),
    Case(
        "Ingrid bis Montag sagen, ob das Zimmer im September frei ist.",
        "Ingrid erfährt bis Montag, ob das Zimmer im September frei ist.",
        "Ingrid hat nach dem Zimmer für September gefragt und hört am Montag von uns.",
        "Ingrid rief am Montag an, wegen nichts Bestimmtem, eine Stunde lang.",
    ),
    Case(
        "Die Korrektur zu 4312 ausliefern, sobald die Tests durchlaufen.",
        "Die Korrektur zu 4312 wird ausgeliefert, sobald die Tests durchlaufen.",
        "4312 ist korrigiert, aber noch nicht ausgeliefert: die Tests laufen noch.",
        "Die Tests waren wieder langsam, und niemand wusste warum.",
    ),
    Case(
        "Das Auto am 9. Oktober zur Inspektion in die Werkstatt bringen.",
        "Am 9. Oktober kommt das Auto zur Inspektion in die Werkstatt.",
        "Die Inspektion steht an; am 9.10. wird das Auto in die Werkstatt gebracht.",
        "Im Auto roch es nach der Reise im Oktober nach nassem Hund.",
    ),
    Case(
        "Das dritte Kapitel von Milos Doktorarbeit Korrektur lesen.",
        "Das dritte Kapitel von Milos Doktorarbeit ist Korrektur zu lesen.",
        "Milo wartet auf ihre Anmerkungen zum Kapitel drei seiner Arbeit.",
        "Milo schläft wegen der Doktorarbeit wenig und ist gereizt.",
    ),
    Case(
        "Den Vermieter um Erlaubnis für eine Katze bitten.",
        "Der Vermieter ist um Erlaubnis für eine Katze zu bitten.",
        "Bevor eine Katze ins Haus kommt, muss der Vermieter es erlauben; sie fragt ihn.",
        "Der Vermieter hat die Miete erhöht, und sie war den ganzen Tag wütend.",
    ),
]

ALL = (*ENGLISH, *GERMAN, *SECOND_ENGLISH, *SECOND_GERMAN, *UNSEEN_ENGLISH, *UNSEEN_GERMAN)
